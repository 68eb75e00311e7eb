import { merchantDialect } from '../wire/documented/merchant.ts';

/** The dialect that the commands and the library use with the service. */
export const dialect = merchantDialect;

/** Where a merchant initiates a sandbox payment. */
export function initiateUrl(baseUrl: string): string {
  return baseUrl + dialect.initiatePath('sandbox');
}
