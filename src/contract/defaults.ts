/*
 * Values that work, for what a merchant's request leaves out: those of the commands and of the library (chosen).
 */

export const PAYMENT_DEFAULTS = {
  amount: '100.00',
  currency: 'USD',
  details: 'Test payment',
  ipnUrl: 'http://localhost:3000/ipn',
  customerName: 'Ada Example',
  customerEmail: 'wallet@example.com',
} as const;

export const CARD_DEFAULTS = {
  amount: '100.00',
  currency: 'USD',
  title: 'Test card',
  nameOnCard: 'Ada Example',
  email: 'ada@example.com',
} as const;
