/* One press is enough: the page is busy until the next one is there, or this one comes back. */
const page = document.documentElement;
addEventListener('submit', (event) => {
  if (page.ariaBusy) event.preventDefault();
  page.ariaBusy = 'true';
  event.submitter?.classList.add('busy');
});
addEventListener('pageshow', () => {
  page.ariaBusy = null;
  document.querySelector('.busy')?.classList.remove('busy');
});

export {};
