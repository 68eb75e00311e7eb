import { type Change, type Reading, type Row, WHOLE_ROW } from './changes.ts';

/** A change, and whether it has nothing to do with payments. */
interface SortedChange extends Change {
  isNoise: boolean;
}

/** Shorter values stand in many rows by chance, and numbers in many texts. */
const MIN_UNIQUE = 6;
/** Columns in which a short value may be that of a payment. */
const NAMES_PAYMENT = /order|cart|ident|refer|payment|transaction|trx|invoice/i;
/** From row to row. */
const MAX_STEPS = 2;
const MAIN_TABLE = /(^|_)(orders?|payments?|transactions?|invoices?|subscriptions?|bookings?)$/i;
const STATUS_OR_STOCK = /status|state|paid|stock|quantity|qty/i;

/** What shops change with any request: sessions, visits, caches, schedulers and logs (as in the published systems). */
const NOISY_TABLE =
  /session|cache|transient|actionscheduler|scheduled?_|cron|(^|_)(logs?|connections?|connections_\w+|guests?|visits?|visitors?|page_?views?|online)$/i;
/** The counters and heartbeats of workers. */
const WORKER_TABLE = /(^|_)workers?(_|$)/i;
const SETTINGS = /(options?|settings?|config|configuration)$/i;
/** Columns that name a setting. */
const SETTING_NAMES = ['option_name', 'name', 'key'] as const;
const NOISY_SETTING = /transient|^cron$|action_scheduler|cache|session|last_?(cron|run)/i;

/** Columns that many rows share, and that relate none of them to a payment. */
const SHARED =
  /^(shop|store|site|lang|language|currency|country|zone|state|status|type|group|customer|user|author|employee|parent|product|tax)/i;

/**
 * Changes in the order of what they say about a payment. It is concerned by rows that hold its identifier, and by those
 * that refer to such rows or to which such rows refer: their statuses and a new order come first. Then come the statuses
 * and stock of other rows, what else changed in its own, others, and last what shops change anyway.
 *
 * @param ties what identifies the payment
 */
export function sortByRelevance(
  changes: readonly Change[],
  { rows, keys }: Reading,
  ties: readonly string[],
): SortedChange[] {
  if (!changes.length) return [];
  const links = new Set<string>();
  const add = (table: string, row: Row) => {
    for (const link of linksOf(table, row, keys.get(table))) links.add(link);
  };
  for (const [table, all] of rows) for (const row of all.values()) if (isTied(row, ties)) add(table, row);
  const isLinked = ({ table, row }: Change) =>
    linksOf(table, row, keys.get(table)).some((link) => links.has(link));
  // An invoice may name the payment, and the order the invoice.
  for (let step = 0; step < MAX_STEPS; step++)
    for (const change of changes) if (!isNoise(change) && isLinked(change)) add(change.table, change.row);
  const rankOf = (change: Change) => {
    const { table, column, row } = change;
    const isOwn = isTied(row, ties);
    if (!isOwn && isNoise(change)) return NOISE;
    const isTelling = STATUS_OR_STOCK.test(column);
    if (isOwn || isLinked(change)) {
      if (isTelling || (column === WHOLE_ROW && MAIN_TABLE.test(table))) return 0;
      return column === WHOLE_ROW ? 2 : 3;
    }
    return isTelling ? 1 : 4;
  };
  return changes
    .map((change) => ({ change, rank: rankOf(change) }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ change, rank }) => ({ ...change, isNoise: rank === NOISE }));
}

/** After all others. */
const NOISE = 5;

/** Whether a row holds what identifies a payment, as a value or in a longer text. */
function isTied(row: Row, ties: readonly string[]): boolean {
  return Object.entries(row).some(([column, value]) => {
    if (value === null || typeof value === 'boolean') return false;
    const text = String(value);
    return ties.some((tie) =>
      tie.length >= MIN_UNIQUE && /\D/.test(tie)
        ? text.includes(tie)
        : text === tie && (tie.length >= MIN_UNIQUE || NAMES_PAYMENT.test(column)),
    );
  });
}

/**
 * How other rows refer to a row, and a row to others, such as `order 17` for both `orders.id` and `items.order_id`.
 *
 * @param key the columns of its primary key
 */
function linksOf(table: string, row: Row, key: readonly string[] = []): string[] {
  return Object.entries(row).flatMap(([column, value]) => {
    const isOwnKey = key.length === 1 && column === key[0] && /^id$/i.test(column);
    // Such as the reference of an order, which its payment repeats.
    if (/(^|_)reference$/i.test(column) && String(value).length >= MIN_UNIQUE) return [`reference ${value}`];
    const name = isOwnKey
      ? table.replace(/^.*_(?=[^_]+$)/, '').replace(/s$/, '')
      : (/^id_(.+)$/.exec(column) ?? /^(.+?)(?:_id|_ID|Id|ID)$/.exec(column))?.[1];
    const isNumbered = value !== null && value !== '' && value !== 0 && value !== '0';
    return name === undefined || !isNumbered || SHARED.test(name)
      ? []
      : [`${name.toLowerCase().replace(/^.*_(?=[^_]+$)/, '')} ${value}`];
  });
}

/** Whether a table counts what workers do, as its name says. */
export const isOfWorkers = (table: string) => WORKER_TABLE.test(table);

function isNoise({ table, row }: Change): boolean {
  if (NOISY_TABLE.test(table) || isOfWorkers(table)) return true;
  return SETTINGS.test(table) && SETTING_NAMES.some((name) => NOISY_SETTING.test(String(row[name] ?? '')));
}
