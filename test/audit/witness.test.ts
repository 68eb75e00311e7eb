import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProbeRequest } from '../../src/audit/client.ts';
import { Ipn } from '../../src/audit/ipn.ts';
import { Patience } from '../../src/audit/patience.ts';
import { Witness } from '../../src/audit/witness.ts';
import type { Payment, Settled } from '../../src/contract/payment.ts';
import type { Row } from '../../src/database/changes.ts';
import { merchantDialect } from '../../src/wire/documented/merchant.ts';

// So that time can be faked.
vi.mock(import('../../src/system/real-time.ts'), async (original) => ({
  ...(await original()),
  pause: (milliseconds) =>
    new Promise((resolve) => {
      setTimeout(resolve, milliseconds);
    }),
  performance: { now: () => performance.now() },
}));

const TOOLS = await merchantDialect.ipn();

/** How late the e-mail of a payment is written, in milliseconds. */
const MAIL_MS = 300;

// A recorded shop has no other work: whoever waits for it need not.
beforeEach(() => {
  vi.useFakeTimers();
  vi.setTimerTickMode('nextTimerAsync');
});
afterEach(() => {
  vi.useRealTimers();
});

/** The tables of a shop, and what its requests do to them. */
class RecordedShop {
  readonly tables: Record<string, Row[]> = {
    orders: [],
    mails: [],
    products: [{ id: 1, stock: 1_000 }],
    ipn_log: [],
    sessions: [],
    counters: [{ id: 1, requests: 0 }],
  };
  /** What a rejected IPN does to an order. */
  onRejected: (order: Row | undefined) => void = () => {};
  /** Whether a row names its order. */
  isNamed = true;
  /** Whether each request adds a session. */
  hasSessions = false;
  /** Whether only a number in the addresses names an order, and not its identifier. */
  isNumbered = false;
  /** How it answers a genuine IPN. */
  delivery: Settled['delivery'] = null;
  readonly notices = new Set<string>();

  read = async () => ({
    rows: new Map(
      Object.entries(this.tables).map(([table, rows]) => [
        table,
        new Map(rows.map((row) => [String(row['id']), { ...row }])),
      ]),
    ),
    keys: new Map(Object.keys(this.tables).map((table) => [table, ['id']])),
  });

  #add(table: string, row: Record<string, string | number | null>): void {
    const rows = this.tables[table] ?? [];
    rows.push({ id: rows.length + 1, ...row });
  }

  #count(table: string, column: string, by: number): void {
    const [row = {}] = this.tables[table] ?? [];
    this.tables[table] = [{ ...row, [column]: Number(row[column]) + by }];
  }

  readonly orders = {
    take: async () => {
      const number = (this.tables['orders']?.length ?? 0) + 1;
      const identifier = `order-${7_000 + number}`;
      this.#count('counters', 'requests', 1);
      const reference = this.isNamed && !this.isNumbered ? identifier : null;
      const cart = this.isNumbered ? number + 7 : null;
      this.#add('orders', { reference, cart, module: 4, status: 'pending', total: '49.90' });
      const successUrl = cart === null ? '' : `http://shop/thanks?cart=${cart}&module=4`;
      const payment = { identifier, successUrl, trx: `TRX${1_000 + number}`, amount: '49.90' } as Payment;
      return { payment, isUntouched: false, text: undefined, [Symbol.dispose]: () => {} };
    },
    valuesOf: ({ identifier, trx, successUrl }: Payment) => ({ identifier, trx, success_url: successUrl }),
  };

  ipnOf = ({ identifier, amount }: Payment) =>
    new Ipn(TOOLS, [
      ['status', 'success'],
      ['identifier', identifier],
      ['data[amount]', amount],
      ['signature', 'a genuine one'],
    ]);

  postOf = (payment: Payment) => (ipn: Ipn) => ({ url: `http://shop/${payment.identifier}`, body: ipn.form });

  foreignRequests = () => [{ url: 'http://shop/' }];

  #visit(): void {
    this.#count('counters', 'requests', 1);
    if (this.hasSessions) this.#add('sessions', { data: '' });
  }

  #orderOf(body: string): { order: Row | undefined; identifier: string } {
    this.#visit();
    this.#add('ipn_log', { body });
    const identifier = new URLSearchParams(body).get('identifier') ?? '';
    const number = Number(identifier.split('-')[1]) - 7_000;
    return { identifier, order: this.tables['orders']?.find(({ id }) => id === number) };
  }

  send = async ({ body }: ProbeRequest) => {
    if (body === undefined) this.#visit();
    else this.onRejected(this.#orderOf(String(body)).order);
  };

  payWithIpn = async (payment: Payment) => {
    const { order } = this.#orderOf(this.ipnOf(payment).form);
    if (order) Object.assign(order, { status: 'paid' });
    this.#count('products', 'stock', -1);
    setTimeout(() => this.#add('mails', { order_id: order?.['id'] as number }), MAIL_MS);
    return this.delivery;
  };
}

async function learnedFrom(shop: RecordedShop) {
  const patience = new Patience();
  const witness = new Witness(shop, patience);
  return { result: await witness.learn(shop), witness, patience };
}

describe('from the rows of recorded orders, an audit learns', () => {
  it('what an order is, what a payment does, what records IPNs and what counts requests', async () => {
    const { result, witness } = await learnedFrom(new RecordedShop());
    expect(result).toEqual({ paidWhen: '.orders.status=paid' });
    expect(witness.learned).toEqual({
      order: expect.arrayContaining(['orders.reference', 'orders.*']),
      payment: expect.arrayContaining(['orders.status', 'mails.*', 'products.stock']),
      records: ['ipn_log.*'],
      noise: expect.arrayContaining(['counters.requests']),
    });
    expect(witness.suspects).toEqual([]);
  });

  it('how late its effects come, and then waits longer than that', async () => {
    const { patience } = await learnedFrom(new RecordedShop());
    expect(patience.lagMs).toBeGreaterThanOrEqual(MAIL_MS);
    expect(patience.restMs).toBeGreaterThan(1.5 * patience.lagMs);
  });

  it('what a rejected IPN changes and no log explains', async () => {
    const shop = new RecordedShop();
    shop.onRejected = (order) => order && Object.assign(order, { status: 'on hold' });
    const { witness } = await learnedFrom(shop);
    expect(witness.suspects).toEqual(['orders.status']);
  });

  it('that what a visit does, too, is no effect of a payment', async () => {
    const shop = new RecordedShop();
    shop.hasSessions = true;
    const { witness } = await learnedFrom(shop);
    expect(witness.learned?.noise).toContain('sessions.*');
    expect(witness.learned?.payment).not.toContain('sessions.*');
  });

  it('that a short number names orders, if a column holds that of each, and not what all have in common', async () => {
    const shop = new RecordedShop();
    shop.isNumbered = true;
    const { result, witness } = await learnedFrom(shop);
    expect(result).toEqual({ paidWhen: '.orders.status=paid' });
    expect(witness.learned?.order).toContain('orders.cart');
    expect(witness.learned?.order).not.toContain('orders.module');
  });

  it('a payment from a shop that answers with a redirect', async () => {
    const shop = new RecordedShop();
    shop.delivery = { attempts: [{ failure: { code: 'answered' }, responseStatus: 302 }] } as never;
    expect((await learnedFrom(shop)).result).toEqual({ paidWhen: '.orders.status=paid' });
  });

  it('nothing if no row names an order', async () => {
    const shop = new RecordedShop();
    shop.isNamed = false;
    shop.tables['ipn_log'] = Object.freeze([]) as never;
    const { result } = await learnedFrom(shop);
    expect(result).toEqual({ missing: expect.stringContaining('no new row holds the identifier') });
  });
});
