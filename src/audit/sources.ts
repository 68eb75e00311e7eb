import type { IncomingMessage } from 'node:http';
import type { AuditOptions } from '../contract/audit-options.ts';
import { GatewayError } from '../contract/error.ts';
import { readText } from '../delivery/sender.ts';
import { errorPage, ownWords } from '../domain/receiver-answer.ts';
import { ask } from './ask.ts';
import { callUserFunction, readCommand, runCommand } from './command.ts';
import type { AuditGateway } from './gateway.ts';
import { Orders, type PlaceOrder } from './orders.ts';

const MAX_ORDERS = 150;
const MAX_ORDERS_BY_HAND = 3;
/** Time for the shop to initiate a payment after the order; placing orders by hand takes longer. */
const INITIATE_LIMIT_MS = 15_000;
const BY_HAND_LIMIT_MS = 10 * 60_000;

/** Creates the source of orders. */
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
  if (order) return () => callUserFunction('placing an order', order);
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
  if (orderWait) return async () => onNotice?.('Place an order in the shop within 10 minutes.');
  return () => gateway.payments.create({ ipnUrl });
}

/** @throws GatewayError `forbidden`; `check_failed` if the shop responds with an error, or not at all */
async function requestOrder(request: Parameters<typeof ask>[0]): Promise<void> {
  const what = `could not place an order: ${request.method} ${request.url}`;
  const read = async (answer: IncomingMessage) => {
    const { statusCode: status = 0 } = answer;
    // The response may break off.
    return { status, body: status < 400 ? '' : await readText(answer).catch(() => '') };
  };
  const { status, body } = await ask(request, read, `${what} failed`);
  if (status < 400) return;
  const words = errorPage(body) ?? ownWords(body);
  throw new GatewayError('check_failed', `${what} answered ${status}${words ? ` “${words}”` : ''}`);
}
