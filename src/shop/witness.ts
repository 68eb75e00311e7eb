import type { Learned } from '../contract/learned.ts';
import type { Payment, Settled } from '../contract/payment.ts';
import { plainText } from '../contract/text.ts';
import {
  A_TIME,
  changesBetween,
  type Row,
  type Rows,
  shownValue,
  textOf,
  type Value,
  WHOLE_ROW,
} from '../database/changes.ts';
import type { Database } from '../database/database.ts';
import { isOfWorkers } from '../database/relevance.ts';
import type { ExchangeRequest } from '../delivery/exchange.ts';
import { performance } from '../system/real-time.ts';
import type { OrderValues } from './command.ts';
import { Patience } from './patience.ts';
import { changedPlaces, valueAt } from './probe.ts';
import { Turns } from './turns.ts';

/*
 * The shop's database as a witness: what belongs to an order, and what a payment changes, is learned from orders that are
 * paid, refused and left alone.
 */

/** The rows of a new order, and of a rejected IPN, are written with the response or shortly after it. */
const SHORT_REST_MS = 600;
/** A shorter value occurs by chance in some column. */
const SHORTEST_BY_ITSELF = 4;
/** A shop that writes this status down writes down what was sent. */
const UNKNOWN_STATUS = 'gateway-sim-unknown';
/** What rejected IPNs say. */
const REFUSED_STATUSES = ['failed', UNKNOWN_STATUS];
/** A well-formed signature that matches no IPN. */
export const WRONG_SIGNATURE = 'F'.repeat(64);
/** What a log of a rejected IPN holds: its signature, or a status that no shop has a word for. */
const SENT = new RegExp(`${WRONG_SIGNATURE}|${UNKNOWN_STATUS}|signature`, 'i');
/** How far rows may be from the row that names the order. */
const MAX_STEPS = 3;

/** The rows of a table that belong to an order. */
type OwnRows = ReadonlyMap<string, ReadonlyMap<string, Row>>;

/** What learning needs of a shop. */
interface LearnableShop {
  orders: {
    /** A pending order that others do not use until it is released; undefined if none is left. */
    take(): Promise<({ payment: Payment; isUntouched: boolean } & Disposable) | undefined>;
    valuesOf(payment: Payment): OrderValues;
  };
  send(request: ExchangeRequest): Promise<unknown>;
  /** Sends an IPN with a wrong signature. */
  sendRefused(payment: Payment, status: string): Promise<unknown>;
  /** Requests that no payment explains, such as a visit of the first page. The last one names the order. */
  foreignRequests(payment: Payment): readonly ExchangeRequest[];
  payWithIpn(payment: Payment): Promise<Settled['delivery']>;
}

export class Witness {
  readonly #database: Pick<Database, 'read' | 'notices'>;
  readonly #patience: Patience;
  readonly #turns = new Turns();
  readonly #references = new References();
  /** The columns that hold an order's identifier, transaction id or token, as `table.column`. */
  #ties: ReadonlySet<string> = new Set();
  /** What the addresses of most orders have in common. */
  #common: ReadonlySet<string> = new Set();
  /** Effects on rows that belong to no order, such as `stock.count`, or `mails.*` for their number. */
  #shared: readonly string[];
  /** The first order that was paid, and its rows at that time. */
  #firstPaid: { values: OrderValues; text: string } | undefined;
  /** What a payment makes fewer or smaller. */
  #removed: readonly string[] = [];
  /** Tables that get a row when an order is placed. */
  #created: readonly string[] = [];
  /** Tables of which some row has belonged to an order. */
  readonly #tables = new Set<string>();
  /** What was learned; null until then. */
  learned: Learned | null = null;
  /** Changes of rejected IPNs, except their log. */
  suspects: readonly string[] = [];

  /** @param effects effects that the user names */
  constructor(
    database: Pick<Database, 'read' | 'notices'>,
    patience = new Patience(),
    effects: readonly string[] = [],
  ) {
    this.#database = database;
    this.#patience = patience;
    this.#shared = effects;
  }

  /** Messages for the user. */
  get notices(): ReadonlySet<string> {
    return this.#database.notices;
  }

  /** Runs a request to the shop while nothing is read. */
  request<Result>(run: () => Promise<Result>): Promise<Result> {
    return this.#turns.request(run);
  }

  /** The rows of an order as JSON, and the effects on rows of no order. */
  async look(values: OrderValues): Promise<{ text: string; effects: Map<string, string> }> {
    const rows = await this.#read();
    const own = this.#rowsOf(rows, values);
    const effects = new Map(this.#shared.map((place) => [place, String(totalOf(rows, place))]));
    return { text: this.#textOf(own), effects };
  }

  #read(): Promise<Rows> {
    return this.#turns.read(async () => {
      const { rows, keys } = await this.#database.read();
      this.#references.keys = keys;
      return rows;
    });
  }

  #rowsOf(rows: Rows, values: OrderValues): OwnRows {
    const known = new Set(namesOf(values).filter((name) => !this.#common.has(name)));
    const own = new Map<string, Map<string, Row>>();
    const add = (table: string, key: string, row: Row) => {
      const found = own.get(table) ?? new Map<string, Row>();
      own.set(table, found);
      if (found.has(key)) return false;
      found.set(key, row);
      return true;
    };
    let last: TableRow[] = [];
    for (const [table, all] of rows) {
      const ties = [...this.#ties].filter((tie) => tie.startsWith(`${table}.`));
      for (const [key, row] of all) {
        const isTied = ties.some((tie) => known.has(plainText(row[tie.slice(table.length + 1)]) ?? ''));
        if (isTied && add(table, key, row)) last.push({ table, row });
      }
    }
    // A table of keys and values names the order in a row that belongs to the order's own.
    for (const child of [...last]) {
      for (const table of this.#created) {
        const all = rows.get(table) ?? new Map<string, Row>();
        const [sample] = all.values();
        const column =
          sample && table !== child.table && this.#references.from(child, { table, row: sample });
        if (!column) continue;
        const wanted = plainText(child.row[column.own]);
        for (const [key, row] of all)
          if (plainText(row[column.theirs]) === wanted && add(table, key, row)) last.push({ table, row });
      }
    }
    for (let step = 0; last.length && step < MAX_STEPS; step++) {
      const next: typeof last = [];
      for (const parent of last) {
        for (const [table, all] of rows) {
          if (table === parent.table) continue;
          const [sample] = all.values();
          const column = sample && this.#references.from({ table, row: sample }, parent);
          const wanted = column && parent.row[column.theirs];
          if (!column || wanted === null) continue;
          for (const [key, row] of all) {
            if (plainText(row[column.own]) !== plainText(wanted)) continue;
            if (add(table, key, row)) next.push({ table, row });
          }
        }
      }
      last = next;
    }
    for (const table of own.keys()) this.#tables.add(table);
    return own;
  }

  /** The rows as JSON: for each table their number, and the values of each column. */
  #textOf(own: OwnRows): string {
    const isRecord = (table: string, column: string) =>
      this.learned?.records.includes(`${table}.${column}`) === true;
    const tables = [...new Set([...this.#tables, ...own.keys()])].filter(
      (table) => !isRecord(table, WHOLE_ROW),
    );
    const shown = tables.toSorted().map((table) => {
      const rows = [...(own.get(table)?.values() ?? [])];
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
        .filter((column) => !isRecord(table, column))
        .map((column) => [column, together(rows.map((row) => row[column]))]);
      return [table, { rows: rows.length, ...Object.fromEntries(columns) }];
    });
    return JSON.stringify(Object.fromEntries(shown));
  }

  /** Reads until the shop is at rest. @returns the rows, and when they last changed */
  async #atRest(restMs = SHORT_REST_MS): Promise<{ rows: Rows; at: number }> {
    const { reading, changedAt } = await this.#patience.untilAtRest(
      () => this.#read(),
      (before, after) => !changesBetween(before, after).length,
      Math.max(restMs, this.#patience.restMs),
    );
    return { rows: reading, at: changedAt };
  }

  /**
   * Learns from orders that exist already which columns name them. A short name occurs by chance in other columns, too:
   * only a column counts in which each row that holds such a name also holds the amount of its order.
   */
  async relate(orders: readonly OrderValues[]): Promise<void> {
    const rows = await this.#read();
    const all = [...rows.keys()].flatMap((table) => rowsBeside(rows, `${table}.`));
    const names = new Set(orders.flatMap(namesOf));
    const amounts = new Set(orders.map(({ amount }) => Number(amount)));
    const naming = groupedBy(all, (value) => (names.has(value) ? value : undefined));
    const holding = groupedBy(all, (value) => (amounts.has(Number(value)) ? Number(value) : undefined));
    this.#common = commonNames(orders);
    const ties = new Set<string>();
    const chance = new Set<string>();
    const parents = new Set<string>();
    for (const values of orders) {
      const own = namesOf(values).filter((name) => !this.#common.has(name));
      // A part of an address names an order only if it differs from that of another.
      const isOwn = (name: string) => orders.length > 1 || nameIn(values).includes(name);
      const long = own.filter((name) => name.length >= SHORTEST_BY_ITSELF && isOwn(name));
      const withAmount = holding.get(Number(values.amount)) ?? new Set();
      const childrenOf = (some: readonly string[]) => [
        ...new Set(some.flatMap((name) => [...(naming.get(name) ?? [])])),
      ];
      const places = new Map<string, number>();
      for (const child of childrenOf(own)) {
        const sure = tiesIn([child], new Set(long));
        for (const tie of tiesIn([child], new Set(own))) {
          const value = plainText(child.row[tie.slice(child.table.length + 1)]) ?? '';
          const count = (places.get(`${tie} ${value}`) ?? 0) + 1;
          places.set(`${tie} ${value}`, count);
          // A short value that several rows have, such as a language, names none of them.
          const isLikely = withAmount.has(child) && count === 1 && mayHold(tie, value, values);
          const isTie = sure.has(tie) || isLikely;
          (isTie ? ties : chance).add(tie);
        }
      }
      // The amount may stand in a row to which the row with the name refers.
      for (const { table, row } of withAmount)
        if (
          !parents.has(table) &&
          childrenOf(long).some((child) => this.#references.isTo({ table, row }, child))
        )
          parents.add(table);
    }
    this.#ties = new Set([...ties].filter((tie) => !chance.has(tie)));
    this.#created = [...parents];
  }

  /**
   * Places orders, refuses an IPN for two, pays two and leaves two alone.
   *
   * @returns the condition for a paid order; or what is missing, in words
   */
  async learn(shop: LearnableShop): Promise<{ paidWhen: string } | { missing: string }> {
    const placed: Payment[] = [];
    const made: { table: string; row: Row }[][] = [];
    const created: Set<string>[] = [];
    let { rows } = await this.#atRest();
    for (let count = 0; count < 6; count++) {
      using order = await shop.orders.take();
      if (!order) return { missing: 'fewer than six orders could be placed' };
      order.isUntouched = count > 3;
      placed.push(order.payment);
      if (count > 1) continue;
      const after = (await this.#atRest()).rows;
      const added = newRows(rows, after);
      made.push(added);
      created.push(new Set(added.map(({ table }) => `${table}.${WHOLE_ROW}`)));
      rows = after;
    }
    const [one, other, third, fourth, fifth] = placed;
    const values = placed.map((payment) => shop.orders.valuesOf(payment));
    this.#common = commonNames(values);
    const ownNames = values.map((one) => new Set(namesOf(one).filter((name) => !this.#common.has(name))));
    const [first = new Set<string>(), second = first] = made.map((added, index) =>
      tiesIn(added, ownNames[index] ?? new Set()),
    );
    // A column that holds the name of each order names orders, however short the name is.
    const { rows: unvisited } = await this.#atRest();
    const namesEach = (tie: string) =>
      ownNames.every((all) => tiesIn(rowsBeside(unvisited, tie), all).has(tie));
    this.#ties = new Set([...first].filter((tie) => second.has(tie) && namesEach(tie)));
    if (!this.#ties.size)
      return {
        missing:
          'no new row holds the identifier or the transaction id of an order. Is it the database of this shop, and is no other audit running?',
      };
    const rowsCreated = both([...(created[0] ?? [])], [...(created[1] ?? [])]);
    this.#created = rowsCreated.map((place) => place.slice(0, -WHOLE_ROW.length - 1));
    if (fifth) for (const request of shop.foreignRequests(fifth)) await shop.send(request);
    const { rows: start } = await this.#atRest();
    for (const payment of [third, fourth]) {
      if (!payment) continue;
      for (const status of REFUSED_STATUSES) await shop.sendRefused(payment, status);
    }
    const { rows: middle } = await this.#atRest();
    let refusal: string | undefined;
    for (const payment of [one, other]) {
      const delivery = payment && (await shop.payWithIpn(payment));
      const last = delivery?.attempts.at(-1);
      if (last?.failure)
        refusal = `your handler answered ${last.responseStatus ?? 'nothing'} to a genuine IPN (ipn diagnose finds out why)`;
    }
    const paidAt = performance.now();
    const { rows: end, at } = await this.#atRest(this.#patience.unknownRestMs('rows'));
    this.#patience.tookEffect(at - paidAt);
    const added = newRows(start, end);
    // Rows that were added with an IPN may name the order, too.
    const tiesOfAll = ownNames.map((all) => tiesIn(added, all));
    const isIn = (tie: string, ...orders: number[]) => orders.every((index) => tiesOfAll[index]?.has(tie));
    const later = tiesOfAll.flatMap((ties) => [...ties]).filter((tie) => isIn(tie, 0, 1) || isIn(tie, 2, 3));
    this.#ties = new Set([...this.#ties, ...later]);
    const rowsOf = (from: Rows) => placed.map((payment) => this.#rowsOf(from, shop.orders.valuesOf(payment)));
    // The tables of all are known before the first text is made.
    const [atFirst, atStart, atMiddle, atEnd] = [unvisited, start, middle, end].map(rowsOf);
    const texts = (all: readonly OwnRows[] = []) => all.map((own) => this.#textOf(own));
    const [unvisitedTexts, before, refused, after] = [
      texts(atFirst),
      texts(atStart),
      texts(atMiddle),
      texts(atEnd),
    ];
    const changed = (index: number, from: readonly string[], to: readonly string[]) =>
      changedPlaces(from[index] ?? '', to[index] ?? '');
    const noise = changed(4, before, after);
    // What changes when other orders are placed, or by foreign requests, changes with any request, or without one. But a
    // return page that pays its order would make noise of what a payment does.
    const isVisitedOnly = changed(4, unvisitedTexts, before).every((place) =>
      isCountOrTime(valueAt(before[4] ?? '', place)),
    );
    const moving = [...this.#untied(rows, isVisitedOnly ? start : unvisited, placed, shop).keys()];
    // A row that holds what was sent is a log. Anything else that a rejected IPN changes is an effect before the checks.
    const logs = new Set(
      newRows(start, middle)
        .filter(({ row }) => Object.values(row).some((value) => SENT.test(String(value))))
        .map(({ table }) => `${table}.${WHOLE_ROW}`),
    );
    const isLog = (place: string) => logs.has(`${place.split('.')[0]}.${WHOLE_ROW}`);
    const touched = [...this.#untied(start, middle, placed, shop).keys()].filter(
      (place) => !moving.includes(place),
    );
    const recorded = touched.filter(isLog);
    const confirmed = await this.#confirmed(
      touched.filter((place) => !isLog(place)),
      placed,
      shop,
    );
    // A refused IPN may leave a count or a time on the row of its order, and must not change it otherwise.
    const isOwn = (place: string) => rowsCreated.includes(`${place.split('.')[1]}.${WHOLE_ROW}`);
    const records = both(changed(2, before, refused), changed(3, before, refused)).filter((place) =>
      isOwn(place) ? isCountOrTime(valueAt(refused[2] ?? '', place)) : isLog(named(place)),
    );
    const payment = both(changed(0, before, after), changed(1, before, after)).filter(
      (place) => !covers(noise, place) && !covers(records, place),
    );
    this.#removed = payment.filter(
      (place) => Number(valueAt(after[0] ?? '', place)) < Number(valueAt(before[0] ?? '', place)),
    );
    const [firstValues] = values;
    if (firstValues) this.#firstPaid = { values: firstValues, text: after[0] ?? '' };
    this.suspects = withoutNewRows([
      ...confirmed,
      ...both(changed(2, before, refused), changed(3, before, refused))
        .filter((place) => !covers(records, place))
        .map(named),
    ]).filter((place) => !noise.map(named).includes(place));
    // A row with the key of an order is its own, such as the post of an order in WordPress.
    const keysOf = (own: OwnRows = new Map()) =>
      this.#created.flatMap((table) => [...(own.get(table)?.keys() ?? [])]);
    const paidKeys = [0, 1].map((index) => keysOf(atEnd?.[index]));
    const isOfOrders = (place: string) => {
      const keys = changesBetween(middle, end)
        .filter(({ table, column }) => place === `${table}.${column}`)
        .map(({ key }) => key);
      const isOf = (order: readonly string[]) => keys.some((key) => order.includes(key));
      return paidKeys.every(isOf) && keys.every((key) => paidKeys.flat().includes(key));
    };
    const effects = [...this.#untied(middle, end, placed, shop)]
      .filter(([place, change]) => change % 2 === 0 && !recorded.includes(place) && !moving.includes(place))
      .map(([place]) => place)
      .filter((place) => !isOfOrders(place) && !isOfWorkers(place.split('.')[0] ?? ''));
    this.#shared = [...new Set([...this.#shared, ...effects])];
    this.learned = {
      order: [...new Set([...this.#ties, ...rowsCreated])].filter((place) => !moving.includes(place)),
      payment: [...new Set([...withoutNewRows(payment.map(named)), ...this.#shared])],
      records: [...withoutNewRows(records.map(named)), ...recorded],
      noise: [...withoutNewRows(noise.map(named)), ...moving],
    };
    const [, paid = ''] = after;
    const agreed = payment.filter(
      (place) =>
        isPlain(valueAt(paid, place)) &&
        plainText(valueAt(paid, place)) === plainText(valueAt(after[0] ?? '', place)) &&
        plainText(valueAt(before[1] ?? '', place)) === plainText(valueAt(before[0] ?? '', place)),
    );
    const isTime = (one: string) => valueAt(paid, one) === A_TIME;
    const isState = (one: string) => /status|state|paid/i.test(one);
    const likeliest = (one: string) =>
      [one.endsWith('.rows'), isTime(one), !isState(one)].map(Number).join('');
    const [place] = agreed.toSorted((one, other) => likeliest(one).localeCompare(likeliest(other)));
    if (place === undefined)
      return {
        missing:
          refusal ?? 'no row of an order changes with its genuine IPN. Is it the database of this shop?',
      };
    return { paidWhen: `${place}=${plainText(valueAt(paid, place))}` };
  }

  /**
   * The places that rejected IPNs change on two more orders, too, and that a visit just before does not. A cache that has
   * expired, for example, is filled by whatever request comes next.
   */
  async #confirmed(
    places: readonly string[],
    placed: readonly Payment[],
    shop: LearnableShop,
  ): Promise<readonly string[]> {
    let left = places;
    for (let count = 0; count < 2 && left.length; count++) {
      using order = await shop.orders.take();
      if (!order) break;
      const { payment } = order;
      const { rows: unvisited } = await this.#atRest();
      for (const request of shop.foreignRequests(payment)) await shop.send(request);
      const { rows: visited } = await this.#atRest();
      for (const status of REFUSED_STATUSES) await shop.sendRefused(payment, status);
      const { rows: refused } = await this.#atRest();
      const all = [...placed, payment];
      const byVisit = this.#untied(unvisited, visited, all, shop);
      const byRefusal = this.#untied(visited, refused, all, shop);
      left = left.filter((place) => byRefusal.has(place) && !byVisit.has(place));
    }
    return left;
  }

  /** How numbers and counts of rows changed that belong to none of the orders. */
  #untied(from: Rows, to: Rows, placed: readonly Payment[], shop: LearnableShop): Map<string, number> {
    const own = new Set(
      placed.flatMap((payment) =>
        [...this.#rowsOf(to, shop.orders.valuesOf(payment))].flatMap(([table, rows]) =>
          [...rows.keys()].map((key) => `${table}/${key}`),
        ),
      ),
    );
    const changes = new Map<string, number>();
    for (const { table, key, column } of changesBetween(from, to)) {
      if (own.has(`${table}/${key}`)) continue;
      const place = `${table}.${column}`;
      const change = totalOf(to, place) - totalOf(from, place);
      if (change !== 0) changes.set(place, change);
    }
    return changes;
  }

  /** The places that differ, as `table.column`, or `table.*` for new rows. */
  placesOf(places: readonly string[]): string[] {
    return withoutNewRows(places.map(named));
  }

  /**
   * The places of an order that did not change by themselves. A shop may tidy up later, and remove rows of its orders:
   * then the first one that was paid has lost them, too.
   */
  async withoutTidied(places: readonly string[], before: string, after: string): Promise<readonly string[]> {
    const hasLost = (place: string, from: string, to: string) => {
      const rows = `.${place.split('.')[1]}.rows`;
      return Number(valueAt(to, rows) ?? 0) < Number(valueAt(from, rows) ?? 0);
    };
    const paid = this.#firstPaid;
    if (!paid || !places.some((place) => hasLost(place, before, after))) return places;
    const { text } = await this.look(paid.values);
    return places.filter((place) => !hasLost(place, before, after) || !hasLost(place, paid.text, text));
  }

  /** What differs between two texts of an order, without what may be personal. */
  difference(before: string, after: string): string {
    return this.placesOf(changedPlaces(before, after))
      .map((place) => {
        const [table = '', column = ''] = place.split(/\.(.*)/s);
        const at = `.${table}.${column === WHOLE_ROW ? 'rows' : column}`;
        const [from, to] = [before, after].map((text) => valueAt(text, at) as Value | undefined);
        if (column === WHOLE_ROW) return `${table} ${signed(Number(to ?? 0) - Number(from ?? 0))}`;
        const [was, is] = [from, to].map((value) => shownValue(column, textOf(value)) ?? 'nothing');
        return `${place} ${was} → ${is}`;
      })
      .join(', ');
  }

  /** A text of an order, without what may be personal. */
  masked(text: string): string {
    const tables = Object.entries(JSON.parse(text) as Record<string, Row>).map(([table, columns]) => [
      table,
      Object.fromEntries(
        Object.entries(columns).map(([column, value]) => [column, shownValue(column, textOf(value))]),
      ),
    ]);
    return JSON.stringify(Object.fromEntries(tables));
  }

  /** What was learned, in words. */
  describe(paidWhen: string): string {
    const { payment = [], records = [] } = this.learned ?? {};
    const [place = '', value = ''] = paidWhen.slice(1).split(/=(.*)/s);
    const rows = payment.filter((one) => one.endsWith('.*')).map((one) => one.slice(0, -2));
    const others = payment.filter(
      (one) => one !== place && !one.endsWith('.*') && !rows.includes(one.split('.')[0] ?? ''),
    );
    const said = [
      `sets ${place} to ${value}`,
      ...rows.map((table) =>
        this.#removed.includes(`.${table}.rows`) ? `removes a row of ${table}` : `adds a row to ${table}`,
      ),
      ...(others.length ? [`changes ${others.join(', ')}`] : []),
    ];
    const recorded = records.length ? ` Records of IPNs, which are ignored: ${records.join(', ')}.` : '';
    return `Learned from your database: a payment ${said.join(', ')}.${recorded}`;
  }
}

/** The rows of the table of a place. */
const rowsBeside = (rows: Rows, place: string) => {
  const table = place.slice(0, place.indexOf('.'));
  return [...(rows.get(table)?.values() ?? [])].map((row) => ({ table, row }));
};

const signed = (change: number) => (change > 0 ? `+${change}` : String(change));

/** The values of a column: alone as it is, several as their sum, or as text. */
function together(values: readonly (Value | undefined)[]): Value | undefined {
  // Numbers and truth values stay what they are.
  const shown = values.map((value) => {
    const text = textOf(value);
    return text === A_TIME || typeof value === 'string' ? text : value;
  });
  if (shown.length === 1) return shown[0];
  const isSum = shown.every((value) => typeof value === 'number');
  return isSum ? shown.reduce((sum, value) => sum + value, 0) : shown.map(textOf).join(' | ');
}

/** `.mails.rows` is `mails.*`, `.orders.status` is `orders.status`. */
const named = (place: string) => place.slice(1).replace(/\.rows$/, `.${WHOLE_ROW}`);

const both = (some: readonly string[], others: readonly string[]) =>
  some.filter((place) => others.includes(place));

/** Whether a place is one of some, or a column that changes because of their new rows. */
const covers = (some: readonly string[], place: string) =>
  some.includes(place) || some.includes(`.${place.split('.')[1]}.rows`);

const isCountOrTime = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && value.includes(A_TIME));

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

/** A new row stands for its columns. */
const withoutNewRows = (places: readonly string[]) =>
  places.filter((place) => {
    const table = place.slice(0, place.indexOf('.'));
    return place.endsWith(WHOLE_ROW) || !places.includes(`${table}.${WHOLE_ROW}`);
  });

/** The values that may name an order, in its fields and in its addresses. */
const namesOf = (values: OrderValues): string[] =>
  [...nameIn(values), ...parametersOf(values).map(([, value]) => value)].filter(Boolean);

/** The parameters of an order's addresses. */
const parametersOf = ({ ipn_url: ipnUrl = '', success_url: successUrl = '' }: OrderValues) =>
  [ipnUrl, successUrl].flatMap((url) => (URL.canParse(url) ? [...new URL(url).searchParams] : []));

/** Words in the name of a parameter that do not say what it names. */
const WORDS_OF_ANY = ['id', 'no', 'nr', 'number', 'ref', 'key'];

/**
 * Whether a column may hold a short value: that of a parameter such as `cart` only if the column or its table has that
 * word in its name, because the orders of a shop are counted, too.
 */
function mayHold(column: string, value: string, values: OrderValues): boolean {
  if (nameIn(values).includes(value)) return true;
  return parametersOf(values).some(([name, one]) => {
    const words = name.split(/[^a-zA-Z\d]|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
    const telling = words.filter((word) => word !== '' && !WORDS_OF_ANY.includes(word));
    return one === value && (!telling.length || telling.some((word) => column.toLowerCase().includes(word)));
  });
}

/** The values that name an order in its fields. */
const nameIn = ({ identifier, trx, order }: OrderValues) =>
  [identifier, trx, order].filter((value): value is string => Boolean(value));

/** The values that name most of several orders, and so none, such as the number of a language. */
function commonNames(orders: readonly OrderValues[]): Set<string> {
  const counts = new Map<string, number>();
  for (const name of orders.flatMap((one) => [...new Set(namesOf(one))]))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const isCommon = (name: string) => (counts.get(name) ?? 0) > Math.max(orders.length / 2, 1);
  return new Set([...counts.keys()].filter(isCommon));
}

/** The rows by what is made of their values, except for values of which nothing is made. */
function groupedBy<Key>(
  all: readonly TableRow[],
  keyOf: (value: string) => Key | undefined,
): Map<Key, Set<TableRow>> {
  const groups = new Map<Key, Set<TableRow>>();
  for (const one of all) {
    for (const value of Object.values(one.row)) {
      const key = keyOf(plainText(value) ?? '');
      if (key !== undefined) groups.set(key, (groups.get(key) ?? new Set()).add(one));
    }
  }
  return groups;
}

function newRows(before: Rows, after: Rows): { table: string; row: Row }[] {
  return [...after].flatMap(([table, rows]) =>
    [...rows].filter(([key]) => !before.get(table)?.has(key)).map(([, row]) => ({ table, row })),
  );
}

/** The columns of rows that tie them to an order. */
function tiesIn(rows: readonly { table: string; row: Row }[], known: ReadonlySet<string>): Set<string> {
  return new Set(
    rows.flatMap(({ table, row }) =>
      Object.entries(row)
        .filter(([, value]) => known.has(plainText(value) ?? ''))
        .map(([column]) => `${table}.${column}`),
    ),
  );
}

interface TableRow {
  table: string;
  row: Row;
}

/** How tables refer to each other, by the names of their columns. */
class References {
  /** The columns of the primary key of each table. */
  keys: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #known = new Map<string, { own: string; theirs: string } | undefined>();

  /** The columns by which the rows of one table refer to those of another: its own, and theirs. */
  from(child: TableRow, parent: TableRow): { own: string; theirs: string } | undefined {
    const pair = `${child.table} ${parent.table}`;
    if (!this.#known.has(pair)) {
      const [key, another] = this.keys.get(parent.table) ?? [];
      this.#known.set(pair, referenceTo(parent, child, another === undefined ? key : undefined));
    }
    return this.#known.get(pair);
  }

  /** Whether a row refers to a row of another table. */
  isTo(parent: TableRow, child: TableRow): boolean {
    if (parent.table === child.table) return false;
    const column = this.from(child, parent);
    return column !== undefined && plainText(parent.row[column.theirs]) === plainText(child.row[column.own]);
  }
}

/**
 * The column of a table that refers to another: named like its key, or like the table and its key.
 *
 * @param key the column of its primary key, if that is one
 */
function referenceTo(
  parent: TableRow,
  child: TableRow,
  key: string | undefined,
): { own: string; theirs: string } | undefined {
  const guessed = Object.keys(parent.row).find((column) => /^(?:id|rowid)$|^id_|_?id$/i.test(column));
  const theirs = key ?? guessed;
  if (theirs === undefined) return undefined;
  const stem = (parent.table.split('_').at(-1) ?? parent.table).replace(/s$/, '').replace(/\W/g, '');
  // One word, such as `id` or `no`, names nothing by itself.
  const isPlain = /^(?:[a-z]+|ID|ROWID)$/.test(theirs) && !theirs.includes(stem.toLowerCase());
  const last = isPlain ? theirs : 'id';
  const names = new RegExp(`^(?:\\w+_)?${stem}_?${last}$|^${last}_?${stem}$`, 'i');
  // Without a key, the first id of a table of links is that of another table.
  if (key === undefined && !isPlain && !names.test(theirs)) return undefined;
  const own = Object.keys(child.row).find((column) => (column === theirs && !isPlain) || names.test(column));
  return own === undefined ? undefined : { own, theirs };
}

/** The sum of a column, or the number of rows. */
function totalOf(rows: Rows, place: string): number {
  const [table = '', column = ''] = place.split(/\.(.*)/s);
  const all = rows.get(table);
  if (column === WHOLE_ROW) return all?.size ?? 0;
  return [...(all?.values() ?? [])].reduce((sum, row) => sum + (Number(row[column]) || 0), 0);
}
