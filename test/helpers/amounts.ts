import fc from 'fast-check';

export const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });

/** All texts that the service accepts as an amount, including leading zeros. */
export const anyAmount = fc
  .tuple(digits(1, 20), fc.option(digits(1, 8), { nil: undefined }))
  .map(([whole, fraction]) => (fraction === undefined ? whole : `${whole}.${fraction}`))
  .filter((text) => /[1-9]/.test(text));
