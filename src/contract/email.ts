const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/** Whether a text has the form of an e-mail address: one @, a dotted domain, no white space. */
export function isEmail(text: string): boolean {
  return EMAIL.test(text);
}
