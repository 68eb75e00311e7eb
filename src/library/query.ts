import { GatewayError } from '../contract/error.ts';
import { requireObject } from './arguments.ts';

/**
 * The values of a filter as they stand in a query; what is absent is left out.
 *
 * @throws GatewayError `usage` for what is no object, and for the time-out of a `waitFor` among them
 */
export function queryOf(filter: object): Record<string, string> {
  requireObject('the filter', filter);
  if ('timeout' in filter) {
    throw new GatewayError('usage', 'timeout is no filter: give it in the second argument, { timeout }');
  }
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
