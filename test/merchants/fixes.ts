import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { MistakeName } from '../../src/audit/mistakes.ts';
import type { AuditedCase } from '../../src/audit/report.ts';
import type { Code } from '../../src/diagnosis/signature-code.ts';
import { GOOD, type Handler, type Order } from './node-shop.ts';

/** The code of a fix in a language. @throws Error if it has none */
export function codeIn(codes: AuditedCase['code'], language: keyof Code): string {
  const code = codes?.[language];
  if (code === undefined) throw new Error(`the fix has no code for ${language}`);
  return code;
}

const AsyncFunction = (async () => {}).constructor as FunctionConstructor;

/** Runs code in which some names are defined. @param end the code that follows it */
function run<Result>(code: string, names: object, end = '', kind = Function): Result {
  const body = `with (names) { ${code}\n${end} }`;
  return kind('names', body)({ createHmac, randomBytes, timingSafeEqual, ...names }) as Result;
}

const response = { writeHead: () => response, end: () => undefined };
/** Each way of responding ends the handler without a payment. */
const ANSWERS = { res: response, refuse: () => undefined, accept: () => undefined };

/** The fields of an IPN, as Express parses them. */
function bodyOf(form: URLSearchParams) {
  const read = (name: string) => (form.getAll(name).length > 1 ? form.getAll(name) : form.get(name));
  const [status, identifier, signature] = ['status', 'identifier', 'signature'].map(read);
  const data = { amount: read('data[amount]'), currency: { code: read('data[currency][code]') } };
  return { status, identifier, signature, data: form.has('data[amount]') ? data : undefined };
}

/** A database that supports the statements of the fixes. */
const database = (find: (identifier: string) => Order | undefined) => ({
  query: async (statement: string, [identifier = '']: readonly string[]) => {
    // PostgreSQL rejects this, even in a bound value.
    if (identifier.includes('\u0000')) throw new Error('invalid byte sequence');
    const order = find(identifier);
    if (statement.startsWith('SELECT')) return { rows: order ? [order] : [] };
    const changed =
      order && order.status === 'pending' ? Object.assign(order, { status: 'paid' }) : undefined;
    return { rowCount: changed ? 1 : 0 };
  },
});

/** Inserts code into a flawed handler, at the place that the fix names. */
type ApplyFix = (code: string, flawed: Handler) => Partial<Handler>;

const signature: ApplyFix = (code) => ({
  isSigned: (form, secretKey) => {
    const process = { env: { GATEWAY_SECRET_KEY: secretKey } };
    return run(code, { ...ANSWERS, body: bodyOf(form), secretKey, process }, 'return true') ?? false;
  },
});

/** Receives the order that was found, or none. */
const order: ApplyFix = (code, flawed) => ({
  find: async (shop, form, url) => {
    const found = await flawed.find(shop, form, url);
    const names = { ...ANSWERS, order: found, orders: shop.orders, body: bodyOf(form), url };
    return run(code, names, 'return order');
  },
});

const originOf = (fields: Record<string, string>) => new URL(fields['ipn_url'] ?? '').origin;

export const FIXES: Partial<Record<MistakeName, ApplyFix>> = {
  'signature-not-checked': signature,
  'headers-trusted': signature,
  'secret-known': signature,
  'fields-not-required': (code, flawed) => ({
    isWhole: (form, raw) => {
      const body = raw.startsWith('{') ? JSON.parse(raw) : bodyOf(form);
      return run(code, { ...ANSWERS, body }, 'return true') === true && flawed.isWhole(form, raw);
    },
  }),
  'amount-not-compared': order,
  'order-not-by-identifier': order,
  'status-not-checked': order,
  'token-not-checked': order,
  'no-token-in-ipn-url': (code, flawed) => {
    const [initiating = '', receiving = ''] = code.split('\n');
    const tokens = new Map<string, string>();
    const find: Handler['find'] = async (...given) => {
      const found = await flawed.find(...given);
      return found && Object.assign(found, { token: tokens.get(found.identifier) });
    };
    return {
      ...order(receiving, { ...flawed, find }),
      initiate: (fields) => {
        const placed = { token: '' };
        run(initiating, { fields, order: placed, base: `${originOf(fields)}` });
        tokens.set(fields['identifier'] ?? '', placed.token);
        return fields;
      },
    };
  },
  'return-page-pays': (code) => ({
    onReturn: (returned) => {
      // The address may have no order.
      for (const shown of [undefined, returned]) run(code, { ...ANSWERS, order: shown });
    },
  }),
  'paid-more-than-once': (code) => {
    const pay = (paid: Order): Promise<void> => {
      const db = database(() => paid);
      const fulfill = () => Object.assign(paid, { paid: true, credited: paid.credited + 1 });
      return run(code, { db, fulfill, order: paid, identifier: paid.identifier }, '', AsyncFunction);
    };
    return { pay, onReturn: (returned) => void (returned?.paid && pay(returned)) };
  },
  'input-not-escaped': (code) => {
    const look = <Result>(form: URLSearchParams, names: object, end = '') =>
      run<Result>(code, { identifier: form.get('identifier'), ...names }, end, AsyncFunction);
    return {
      find: (shop, form) =>
        look(form, { ...ANSWERS, db: database((name) => shop.orders.get(name)) }, 'return order'),
      refuse: (res, form) => look(form, { res, db: database(() => undefined) }),
    };
  },
  'secrets-shown': (code) => ({ refuse: (res) => run(code, { res }), get: (res) => run(code, { res }) }),
  'initiate-from-outside': (code) => ({
    initiate: (fields) => {
      const url = new URL(fields['ipn_url'] ?? '');
      const identifier = fields['identifier'] ?? '';
      const token = url.searchParams.get('token');
      const placed = { identifier, token, total: '49.90', currency: 'USD' };
      run(code, { fields, order: placed, base: url.origin });
      return fields;
    },
    headers: {},
    isAmount: GOOD.isAmount,
  }),
};
