import type { AuditOptions } from '../contract/audit-options.ts';
import { GatewayError } from '../contract/error.ts';
import { ask } from './ask.ts';
import { ofTheUser, readCommand, runCommand } from './command.ts';
import type { AuditGateway } from './gateway.ts';
import { Orders, type PlaceOrder } from './orders.ts';

const MAX_ORDERS = 150;
const MAX_ORDERS_BY_HAND = 3;
/** For the shop to initiate after an order was placed; by hand that takes longer. */
const INITIATE_LIMIT_MS = 15_000;
const BY_HAND_LIMIT_MS = 10 * 60_000;

/** Where orders come from. */
export function ordersOf(
  gateway: AuditGateway,
  options: AuditOptions,
  notices: Set<string>,
  attackerUrl: string,
): Orders {
  const { timeoutMs, orderWait = false, orders: max = orderWait ? MAX_ORDERS_BY_HAND : MAX_ORDERS } = options;
  return new Orders(gateway, placeOf(gateway, options), {
    max,
    notices,
    limitMs: orderWait ? BY_HAND_LIMIT_MS : (timeoutMs ?? INITIATE_LIMIT_MS),
    isOurs: ({ ipnUrl }) => ipnUrl === attackerUrl,
    cancelled: options.cancelled,
  });
}

function placeOf(gateway: AuditGateway, options: AuditOptions): PlaceOrder {
  const { orderCmd, orderUrl, orderMethod = 'POST', order, orderWait, ipnUrl, onNotice } = options;
  const { timeoutMs } = options;
  const endedBy = (givenUp: AbortSignal) =>
    options.cancelled ? AbortSignal.any([options.cancelled, givenUp]) : givenUp;
  if (order) return () => ofTheUser('placing an order', order);
  if (orderCmd !== undefined) {
    const command = readCommand('the order command', orderCmd, ['ipn_url']);
    const running = { environment: gateway.env, limitMs: timeoutMs };
    return (givenUp) => runCommand(command, { ipn_url: ipnUrl }, { ...running, cancelled: endedBy(givenUp) });
  }
  if (orderUrl !== undefined) {
    const request = { url: orderUrl, method: orderMethod, guard: gateway.egress };
    const limited = { ...request, timeoutMs: timeoutMs ?? INITIATE_LIMIT_MS };
    return (givenUp) => requestOrder({ ...limited, signal: endedBy(givenUp) });
  }
  if (orderWait)
    return async () => onNotice?.('Place an order at the shop now; it is waited for 10 minutes.');
  return () => gateway.payments.create({ ipnUrl });
}

/** @throws GatewayError `forbidden`; `check_failed` when the shop answers with an error, or not at all */
async function requestOrder(request: Parameters<typeof ask>[0]): Promise<void> {
  const what = `no order could be placed: ${request.method} ${request.url} was`;
  const status = await ask(request, ({ statusCode = 0 }) => statusCode, `${what} not answered`);
  if (status >= 400) throw new GatewayError('check_failed', `${what} answered ${status}`);
}
