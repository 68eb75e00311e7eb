import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Payment, Settled } from '../../src/contract/payment.ts';
import type { Row } from '../../src/database/changes.ts';
import type { ExchangeRequest } from '../../src/delivery/exchange.ts';
import { Patience } from '../../src/shop/patience.ts';
import { valueAt } from '../../src/shop/probe.ts';
import { Witness, WRONG_SIGNATURE } from '../../src/shop/witness.ts';

// So that time can be faked.
vi.mock('../../src/system/real-time.ts', () => import('../helpers/replaceable-time.ts'));

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
    posts: [],
    counters: [{ id: 1, requests: 0 }],
  };
  /** What a rejected IPN does to an order. */
  onRejected: (order: Row | undefined) => void = () => {};
  /** Whether a row names its order. */
  isNamed = true;
  /** Whether each order has a row with its key in another table, which counts its notes. */
  hasPosts = false;
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
      if (this.hasPosts) this.#add('posts', { notes: 0 });
      const successUrl = cart === null ? '' : `http://shop/thanks?cart=${cart}&module=4`;
      const payment = { identifier, successUrl, trx: `TRX${1_000 + number}`, amount: '49.90' } as Payment;
      return { payment, isUntouched: false, text: undefined, [Symbol.dispose]: () => {} };
    },
    valuesOf: ({ identifier, trx, successUrl }: Payment) => ({ identifier, trx, success_url: successUrl }),
  };

  #ipnOf({ identifier, amount }: Payment, status: string, signature: string): string {
    return new URLSearchParams({ status, identifier, 'data[amount]': amount, signature }).toString();
  }

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

  send = async (_: ExchangeRequest) => this.#visit();

  sendRefused = async (payment: Payment, status: string) =>
    this.onRejected(this.#orderOf(this.#ipnOf(payment, status, WRONG_SIGNATURE)).order);

  payWithIpn = async (payment: Payment) => {
    const { order } = this.#orderOf(this.#ipnOf(payment, 'success', 'a genuine one'));
    if (order) Object.assign(order, { status: 'paid' });
    this.#count('products', 'stock', -1);
    const post = this.tables['posts']?.find(({ id }) => id === order?.['id']);
    if (post) Object.assign(post, { notes: 1 });
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

  it('that a cache which expired before a rejected IPN is not changed by it', async () => {
    const shop = new RecordedShop();
    let rejected = 0;
    shop.onRejected = () => {
      rejected += 1;
      if (rejected === 1) shop.tables['caches'] = [{ id: 1, fills: 1 }];
    };
    const { witness } = await learnedFrom(shop);
    expect(witness.suspects).toEqual([]);
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

  it('that a row with the key of an order is no effect on rows of no order', async () => {
    const shop = new RecordedShop();
    shop.hasPosts = true;
    const { witness } = await learnedFrom(shop);
    expect(witness.learned?.payment).toContain('products.stock');
    expect(witness.learned?.payment).not.toContain('posts.notes');
  });

  it.each([
    [true, 'tidies up', []],
    [false, 'undoes a payment', ['.notes.text', '.notes.rows']],
  ])('that a shop which removes rows of its first paid order, too (%s), %s', async (isTidied, _, left) => {
    const shop = new RecordedShop();
    shop.tables['notes'] = [];
    const pay = shop.payWithIpn;
    shop.payWithIpn = async (payment) => {
      shop.tables['notes']?.push({ id: shop.tables['notes'].length + 1, order_id: 1, text: 'debug' });
      return pay(payment);
    };
    const { witness } = await learnedFrom(shop);
    if (isTidied) shop.tables['notes'] = [];
    const before = '{"orders":{"rows":1},"notes":{"rows":2,"text":"a | b"}}';
    const after = '{"orders":{"rows":1},"notes":{"rows":1,"text":"b"}}';
    expect(await witness.withoutTidied(['.notes.text', '.notes.rows'], before, after)).toEqual(left);
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

describe('which rows belong to an order that exists, in the tables of', () => {
  /** Two orders that cost 20.00 and 30.00, of which the first is paid. */
  const SHOPS: [string, [string, string], string, [unknown, unknown], Record<string, Row[]>][] = [
    [
      'WooCommerce, where another table than that of the status holds the identifier',
      ['GS-41-abc', 'GS-42-def'],
      '.wp_wc_orders.status',
      ['wc-processing', 'wc-pending'],
      {
        wp_wc_orders: [
          { id: 41, status: 'wc-processing', total_amount: '20.00000000', customer_id: 1 },
          { id: 42, status: 'wc-pending', total_amount: '30.00000000', customer_id: 1 },
        ],
        wp_wc_orders_meta: [
          { id: 1, order_id: 41, meta_key: '_reference', meta_value: 'GS-41-abc' },
          { id: 2, order_id: 42, meta_key: '_reference', meta_value: 'GS-42-def' },
        ],
        wp_users: [{ id: 1, user_login: 'ada' }],
      },
    ],
    [
      'OpenCart, where any number may be that of an order',
      ['1', '2'],
      '.oc_order.order_status_id',
      [2, 0],
      {
        oc_order: [
          { order_id: 1, total: '20.0000', order_status_id: 2, language_id: 1 },
          { order_id: 2, total: '30.0000', order_status_id: 0, language_id: 1 },
        ],
        oc_order_history: [{ order_history_id: 1, order_id: 1, order_status_id: 2 }],
        oc_product: [
          { product_id: 1, price: '30.0000', sort_order: 2 },
          { product_id: 2, price: '20.0000', sort_order: 1 },
        ],
      },
    ],
    [
      'PrestaShop, where only a paid order has rows',
      ['PS8', 'PS9'],
      '.ps_orders.current_state',
      [2, undefined],
      {
        ps_cart: [{ id_cart: 8 }, { id_cart: 9 }],
        ps_orders: [
          { id_order: 2, id_cart: 3, total_paid: '61.800000', current_state: 2 },
          { id_order: 5, id_cart: 8, total_paid: '20.000000', current_state: 2 },
          // Its number is that of a later cart.
          { id_order: 9, id_cart: 4, total_paid: '30.000000', current_state: 2 },
        ],
        // The first id of the table of links has the number of a tax, and is not one.
        ps_order_detail: [{ id_order_detail: 6, id_order: 5, id_product: 5 }],
        ps_order_detail_tax: [{ id_order_detail: 6, id_tax: 1 }],
        ps_tax: [{ id_tax: 6, rate: '20.000' }],
      },
    ],
    [
      'a shop whose orders have a key of another name, and belong to one member',
      ['R-7x1', 'R-9x2'],
      '.orders.rows',
      [1, 1],
      {
        orders: [
          { ref: 'R-7x1', member_id: 1, total: '20.00', paid: 1 },
          { ref: 'R-9x2', member_id: 1, total: '30.00', paid: 0 },
        ],
        point_moves: [{ id: 1, member_id: 1, order_ref: 'R-7x1', points: 40 }],
      },
    ],
    [
      'a shop with an older order of the same price in the same language',
      ['R-7x1', 'R-9x2'],
      '.sales.status',
      ['paid', 'pending'],
      {
        sales: [
          { id: 3, reference: 'R-5x0', total: '20.00', lang: 'en', status: 'pending' },
          { id: 4, reference: 'R-7x1', total: '20.00', lang: 'en', status: 'paid' },
          { id: 5, reference: 'R-9x2', total: '30.00', lang: 'de', status: 'pending' },
        ],
      },
    ],
    [
      'a shop that writes the name of a key as one word',
      ['R-7x1', 'R-9x2'],
      '.shipments.rows',
      [1, 0],
      {
        sales: [
          { saleid: 1, reference: 'R-7x1', total: '20.00' },
          { saleid: 2, reference: 'R-9x2', total: '30.00' },
        ],
        shipments: [{ shipmentid: 1, saleid: 1 }],
      },
    ],
  ];
  const KEYS = new Map([
    ['orders', ['ref']],
    ['point_moves', ['id']],
    ['sales', ['saleid']],
  ]);
  it.each(SHOPS)('%s', async (_, names, status, expected, tables) => {
    const rows = new Map(
      Object.entries(tables).map(([table, all]) => [
        table,
        new Map(all.map((row, index) => [String(index), row])),
      ]),
    );
    const read = async () => ({ rows, keys: KEYS });
    const witness = new Witness({ read, notices: new Set() });
    const orders = names.map((identifier, index) => ({
      identifier,
      amount: ['20.00', '30.00'][index],
      success_url: `http://shop/thanks?cart=${index + 8}&lang=${['en', 'de'][index]}&page=3`,
    }));
    // The payment of another shop has nothing in common with them.
    await witness.relate([...orders, { identifier: 'elsewhere', amount: '5.00' }]);
    const texts = await Promise.all(orders.map(async (order) => (await witness.look(order)).text));
    expect(texts.map((text) => valueAt(text, status))).toEqual(expected);
    expect(texts.join()).not.toContain('"ps_tax"');
  });
});
