/** The Luhn check digit of these digits. */
export function luhnDigit(digits: string): string {
  const sum = [...digits].reduceRight((total, digit, index) => {
    const doubled = Number(digit) * ((digits.length - index) % 2 === 1 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}

/** Whether a text consists of digits and ends with a valid Luhn check digit. */
export function isLuhnNumber(text: string): boolean {
  return /^\d{2,}$/.test(text) && luhnDigit(text.slice(0, -1)) === text.at(-1);
}
