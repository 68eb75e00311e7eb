/* Ignores further clicks until the next page has loaded, or the browser returns to this one. */
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
