/** The language of code that was chosen last, on every page. */
const KEPT = 'language';

const kept = localStorage.getItem(KEPT);
for (const choice of document.querySelectorAll<HTMLInputElement>('.languages input'))
  choice.checked ||= choice.value === kept;

document.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement && target.name === KEPT) localStorage.setItem(KEPT, target.value);
});
