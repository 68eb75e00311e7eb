// The types of payments.cjs, for a shop in TypeScript.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What IPNs are compared with. Your orders may have more. */
export interface Order {
  identifier: string;
  token: string;
  amount: string;
  currency: string;
}

export function newOrder(amount: string, currency: string): Order;
export function initiate(order: Order, shop: string, fields: Record<string, string>): Promise<string>;
export function isPaid<One extends Order>(
  order: One | undefined,
  fields: URLSearchParams,
  token: unknown,
): order is One;
export function createHandler(
  secretKey: string,
): (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;
