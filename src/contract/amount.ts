/** Up to 20 digits, then optionally a point and up to 8 more (chosen: decimal(28,8) is what deployments store). */
export const AMOUNT_PATTERN = /^\d{1,20}(\.\d{1,8})?$/;

/** Whether a text is an amount that the service accepts: plain decimal text, greater than zero. */
export function isAmount(text: string): boolean {
  return AMOUNT_PATTERN.test(text) && /[1-9]/.test(text);
}
