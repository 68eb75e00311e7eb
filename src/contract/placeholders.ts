/** Placeholders for commands and addresses. A command gets the value in this variable, never in its text. */
export const PLACEHOLDERS = {
  identifier: 'GATEWAY_SIM_IDENTIFIER',
  trx: 'GATEWAY_SIM_TRX',
  amount: 'GATEWAY_SIM_AMOUNT',
  ipn_url: 'GATEWAY_SIM_IPN_URL',
  success_url: 'GATEWAY_SIM_SUCCESS_URL',
  order: 'GATEWAY_SIM_ORDER',
} as const;
export type Placeholder = keyof typeof PLACEHOLDERS;
