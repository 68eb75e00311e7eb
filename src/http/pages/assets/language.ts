/** Every page shows code samples in the language that the user chose last. */
const KEY = 'language';

function show(language: string | null): void {
  for (const choice of document.querySelectorAll<HTMLInputElement>('.languages input'))
    choice.checked ||= choice.value === language;
}

show(localStorage.getItem(KEY));
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.closest('.languages')) return;
  localStorage.setItem(KEY, target.value);
  show(target.value);
});
