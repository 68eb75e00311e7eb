import { describe, expect, it } from 'vitest';
import { changesBetween, type Reading, type Row } from '../../src/database/changes.ts';
import { sortByRelevance } from '../../src/database/relevance.ts';

type Tables = Readonly<Record<string, readonly Row[]>>;

/** The first column of each table is its primary key. */
function readingOf(tables: Tables): Reading {
  const all = Object.entries(tables);
  const keyOf = (row: Row | undefined) => Object.keys(row ?? {}).slice(0, 1);
  return {
    rows: new Map(
      all.map(([name, rows]) => [name, new Map(rows.map((row) => [String(Object.values(row)[0]), row]))]),
    ),
    keys: new Map(all.map(([name, rows]) => [name, keyOf(rows[0])])),
  };
}

const sorted = (before: Tables, after: Tables, ties: readonly string[]) =>
  sortByRelevance(changesBetween(readingOf(before).rows, readingOf(after).rows), readingOf(after), ties).map(
    ({ table, column, isNoise }) => `${table}.${column}${isNoise ? ' (noise)' : ''}`,
  );

describe('changes in a shop are sorted by what they say about a payment', () => {
  it('in WooCommerce', () => {
    const before = {
      wp_actionscheduler_actions: [{ action_id: 4, status: 'pending', hook: 'wp_mail' }],
      wp_options: [
        { option_id: 1, option_name: 'cron', option_value: 'a' },
        { option_id: 2, option_name: '_transient_doing_cron', option_value: '1' },
        { option_id: 3, option_name: 'blogname', option_value: 'old' },
      ],
      wp_wc_order_stats: [{ order_id: 15, status: 'wc-pending' }],
      wp_wc_orders: [{ id: 15, status: 'wc-pending' }],
      wp_wc_orders_meta: [
        { id: 8, order_id: 15, meta_key: '_gateway_identifier', meta_value: 'GS-15-abcdef' },
      ],
      wp_wc_product_meta_lookup: [{ product_id: 3, stock_quantity: 10 }],
      wp_woocommerce_sessions: [{ session_id: 1, session_value: 'a' }],
    };
    const after = {
      ...before,
      wp_actionscheduler_actions: [{ action_id: 4, status: 'complete', hook: 'wp_mail' }],
      wp_options: [
        { option_id: 1, option_name: 'cron', option_value: 'b' },
        { option_id: 2, option_name: '_transient_doing_cron', option_value: '2' },
        { option_id: 3, option_name: 'blogname', option_value: 'new' },
      ],
      wp_wc_order_stats: [{ order_id: 15, status: 'wc-processing' }],
      wp_wc_orders: [{ id: 15, status: 'wc-processing' }],
      wp_wc_orders_meta: [
        ...before.wp_wc_orders_meta,
        { id: 9, order_id: 15, meta_key: '_transaction_id', meta_value: 'ABCDEF012345' },
      ],
      wp_wc_product_meta_lookup: [{ product_id: 3, stock_quantity: 9 }],
      wp_woocommerce_sessions: [{ session_id: 1, session_value: 'b' }],
    };
    expect(sorted(before, after, ['GS-15-abcdef', 'ABCDEF012345'])).toEqual([
      'wp_wc_order_stats.status',
      'wp_wc_orders.status',
      'wp_wc_product_meta_lookup.stock_quantity',
      'wp_wc_orders_meta.*',
      'wp_options.option_value',
      'wp_actionscheduler_actions.status (noise)',
      'wp_options.option_value (noise)',
      'wp_options.option_value (noise)',
      'wp_woocommerce_sessions.session_value (noise)',
    ]);
  });

  it('in PrestaShop, where only the payment of an order holds the transaction id', () => {
    const before = {
      ps_connections: [{ id_connections: 1, id_guest: 1 }],
      ps_guest: [{ id_guest: 1, accept_language: 'en' }],
      ps_message: [{ id_message: 1, id_order: 1, message: 'x' }],
      ps_order_detail: [{ id_order_detail: 1, id_order: 1 }],
      ps_order_history: [{ id_order_history: 1, id_order: 1, id_order_state: 1 }],
      ps_order_payment: [{ id_order_payment: 1, order_reference: 'ABCDEFGHI', transaction_id: 'old' }],
      ps_orders: [{ id_order: 1, id_cart: 1, reference: 'ABCDEFGHI' }],
      ps_stock_available: [{ id_stock_available: 1, id_product: 1, quantity: 300 }],
    };
    const after = {
      ps_connections: [...before.ps_connections, { id_connections: 2, id_guest: 2 }],
      ps_guest: [...before.ps_guest, { id_guest: 2, accept_language: 'en' }],
      ps_message: [...before.ps_message, { id_message: 2, id_order: 7, message: 'paid' }],
      ps_order_detail: [...before.ps_order_detail, { id_order_detail: 9, id_order: 7 }],
      ps_order_history: [...before.ps_order_history, { id_order_history: 2, id_order: 7, id_order_state: 2 }],
      ps_order_payment: [
        ...before.ps_order_payment,
        { id_order_payment: 2, order_reference: 'XKBKNABJK', transaction_id: 'ABCDEF012345' },
      ],
      ps_orders: [...before.ps_orders, { id_order: 7, id_cart: 6, reference: 'XKBKNABJK' }],
      ps_stock_available: [{ id_stock_available: 1, id_product: 1, quantity: 299 }],
    };
    expect(sorted(before, after, ['0a1b2c3d4e5f6a7b8c9d', 'ABCDEF012345'])).toEqual([
      'ps_order_payment.*',
      'ps_orders.*',
      'ps_stock_available.quantity',
      'ps_message.*',
      'ps_order_detail.*',
      'ps_order_history.*',
      'ps_connections.* (noise)',
      'ps_guest.* (noise)',
    ]);
  });
});
