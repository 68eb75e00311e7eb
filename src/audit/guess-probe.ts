import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import type { Egress } from '../delivery/egress.ts';
import { isGroup, parsed, readCondition, urlProbe } from '../shop/probe.ts';
import { UNKNOWN_ORDER } from './ipn.ts';

/** Time limit for each address, in milliseconds. */
const GUESS_MS = 2_000;
/** Where shops commonly show an order as JSON, below the address of the shop, or of the order request. */
const LIKELY_PATHS = ['/orders/', '/order/', '/api/orders/', '/api/order/'];
const STATUS = '(?:payment_?)?(?:status|state)';
/** What a status of a paid order commonly is. */
const LIKELY_PAID = `/"${STATUS}":\\s*"(?:paid|success|succeeded|completed|processing)"|"(?:is_?)?paid":\\s*(?:true|1)/i`;

/**
 * Looks for an address that shows an order as JSON with a status, and that knows no other identifier.
 *
 * @param orderUrl the address that places orders, if there is one
 * @returns undefined if there is none
 */
export async function guessProbe(
  { identifier, ipnUrl }: Pick<Payment, 'identifier' | 'ipnUrl'>,
  orderUrl: string | undefined,
  egress: Egress,
): Promise<{ probeUrl: string; paidWhen: string } | undefined> {
  const [own] = orderUrl === undefined ? [] : [`${orderUrl.replace(/[?#].*$/, '').replace(/\/$/, '')}/`];
  const addresses = [...LIKELY_PATHS.map((path) => new URL(path, ipnUrl).href), ...(own ? [own] : [])];
  const isPaid = readCondition(LIKELY_PAID);
  const answerFor = async (probeUrl: string, name: string) => {
    try {
      const { status, text } = await urlProbe(probeUrl, egress, { limitMs: GUESS_MS })({ identifier: name });
      return status === 200 ? text : '';
    } catch (error) {
      if (error instanceof GatewayError) return '';
      throw error;
    }
  };
  for (const address of new Set(addresses)) {
    const probeUrl = `${address}{identifier}`;
    const text = await answerFor(probeUrl, identifier);
    const hasStatus = isGroup(parsed(text)) && new RegExp(`"(?:${STATUS}|(?:is_?)?paid)":`, 'i').test(text);
    if (!hasStatus || isPaid(text)) continue;
    // A page that says the same about every identifier shows no order.
    const ofUnknown = await answerFor(probeUrl, UNKNOWN_ORDER);
    if (ofUnknown.replaceAll(UNKNOWN_ORDER, '') === text.replaceAll(identifier, '')) continue;
    return { probeUrl, paidWhen: LIKELY_PAID };
  }
  return undefined;
}
