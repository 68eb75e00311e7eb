/** Every page shows code samples in the language that the user chose last. */
const KEY = 'language';

const saved = localStorage.getItem(KEY);
for (const choice of document.querySelectorAll<HTMLInputElement>('.languages input'))
  choice.checked ||= choice.value === saved;

document.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement && target.name === KEY) localStorage.setItem(KEY, target.value);
});
