import { type GatewayError, usage } from '../contract/error.ts';
import { type OpenClient, openerOf } from './address.ts';
import type { Reading, Row } from './changes.ts';
import { type Ask, type Column, type DatabaseClient, MARK, rowsIn } from './client.ts';
import type { Resolve } from './hosts.ts';
import { readInserts } from './inserts.ts';
import { printedBy, type Session, startClient, unreadable } from './run-client.ts';

export interface DatabaseOptions {
  /** `sqlite:<file>`, `mysql://user@host[:port]/name[?socket=…]` or `postgres://…`. */
  db?: string | undefined;
  /** A command that prints INSERT statements with the names of the columns. */
  dbCmd?: string | undefined;
  /** Tables that are not read. */
  dbSkip?: readonly string[] | undefined;
}

/** Larger tables are left out. */
const MAX_ROWS = 20_000;

interface Table {
  name: string;
  columns: Column[];
  /** The columns of the primary key; none if it has none. */
  key: string[];
  /** Whether it has no transactions, as in MyISAM: its rows are always those of now. */
  isLive: boolean;
}

/** A shop's database, of which the rows are read and nothing is written. */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #resolve: Resolve;
  readonly #open: OpenClient | undefined;
  #session: Session | undefined;
  /** As of the first reading of a session. */
  #tables: readonly Table[] = [];
  #isClosed = false;
  /** Settles when the client is free. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Messages for the user, such as a table that is too large. */
  readonly notices = new Set<string>();

  /** @throws GatewayError `usage` */
  constructor(options: DatabaseOptions, resolve: Resolve) {
    const { db, dbCmd } = options;
    if ((db === undefined) === (dbCmd === undefined)) throw usage('specify either --db or --db-cmd');
    this.#options = options;
    this.#resolve = resolve;
    this.#open = db === undefined ? undefined : openerOf(db);
  }

  /**
   * Every row, as of one moment. One reading at a time.
   *
   * @param onMoment is called as soon as later changes are not in it
   * @throws GatewayError `check_failed`, `forbidden`, `usage`
   */
  async read(onMoment = () => {}): Promise<Reading> {
    const { dbCmd, dbSkip = [] } = this.#options;
    if (dbCmd !== undefined) {
      const tables = [...readInserts(await printedBy(dbCmd))].filter(([name]) => !dbSkip.includes(name));
      return readingOf(tables.map(([name, rows]) => ({ name, rows, key: ['id'] })));
    }
    return this.#inTurn(async (client, ask) => {
      const rowsOf = async (tables: readonly Table[]) => {
        const select = ({ name, columns, key }: Table) => client.select(name, columns, key.length > 0);
        const found = await query(client, ask, tables.map(select));
        return tables.map(({ name, key }, index) => ({
          name,
          rows: found[index] ?? [],
          key: key.length ? key : ['rowid'],
        }));
      };
      const live = await rowsOf(this.#tables.filter(({ isLive }) => isLive));
      onMoment();
      return readingOf([...live, ...(await rowsOf(this.#tables.filter(({ isLive }) => !isLive)))]);
    });
  }

  /** Opens it and learns its tables. A file of SQLite may be created later. @throws GatewayError as `read` does */
  async connect(): Promise<void> {
    await this.#inTurn(async () => {}).catch((error: GatewayError) => {
      const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
      if (code !== 'ENOENT') throw error;
    });
  }

  /** How many tables are read, as far as they are known. */
  get tableCount(): number {
    return this.#tables.length;
  }

  /** Ends the client for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  /** Ends the client. The next reading starts another one. */
  async #end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#tables = [];
    await session?.close();
  }

  /** Runs queries in one transaction. */
  async #inTurn<Result>(run: (client: DatabaseClient, ask: Ask) => Promise<Result>) {
    const turn = this.#turn.then(() => this.#inTransaction(run));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #inTransaction<Result>(run: (client: DatabaseClient, ask: Ask) => Promise<Result>): Promise<Result> {
    try {
      const { client, ask } = await this.#begin();
      // Tables may be created and dropped while a shop is developed.
      if (!this.#tables.length) this.#tables = await this.#readTables(client, ask);
      const result = await run(client, ask);
      await ask(client.end);
      return result;
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  /** Begins a transaction, with another client if the one that was open has ended meanwhile. */
  async #begin(): Promise<Session> {
    const open = this.#session;
    if (open) {
      try {
        await open.client.begin(open.ask);
        return open;
      } catch {
        await this.#end();
      }
    }
    const client = await this.#open?.(this.#resolve);
    if (!client || this.#isClosed) throw unreadable('it is closed');
    const session = await startClient(client).catch(async (error: unknown) => {
      await client.close?.();
      throw error;
    });
    this.#session = session;
    await client.begin(session.ask);
    return session;
  }

  async #readTables(client: DatabaseClient, ask: Ask): Promise<Table[]> {
    const { dbSkip = [] } = this.#options;
    const tables = new Map<string, Table>();
    const [columns = []] = await query(client, ask, [client.schema]);
    for (const { t, c, k, w = '', l } of columns) {
      const [name, column] = [String(t), String(c)];
      const table = tables.get(name) ?? { name, columns: [], key: [], isLive: l === true || l === 1 };
      tables.set(name, table);
      table.columns.push({ name: column, wrap: String(w) });
      if (k === true || k === 1) table.key.push(column);
    }
    const wanted = [...tables.values()].filter(({ name }) => !dbSkip.includes(name));
    const counts = await query(
      client,
      ask,
      wanted.map(({ name }) => client.count(name)),
    );
    return wanted.filter(({ name }, index) => {
      const count = Number(counts[index]?.[0]?.['n'] ?? 0);
      if (count > MAX_ROWS) this.notices.add(`the table ${name} has ${count} rows, so it is left out`);
      return count <= MAX_ROWS;
    });
  }
}

function readingOf(
  tables: readonly { name: string; rows: readonly Row[]; key: readonly string[] }[],
): Reading {
  return {
    rows: new Map(tables.map(({ name, rows, key }) => [name, keyed(rows, key)])),
    keys: new Map(tables.map(({ name, key }) => [name, key])),
  };
}

/** Rows by their key. A row without a key has its whole content as its key, and a number if it is not the first. */
function keyed(rows: readonly Row[], key: readonly string[]): Map<string, Row> {
  const found = new Map<string, Row>();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const isNamed = key.every((name) => name in row);
    const own = isNamed ? key.map((name) => row[name] ?? '').join(', ') : JSON.stringify(row);
    const count = (counts.get(own) ?? 0) + 1;
    counts.set(own, count);
    found.set(count === 1 ? own : `${own} #${count}`, row);
  }
  return found;
}

/** What each query printed, in order. @throws GatewayError `check_failed` */
async function query(client: DatabaseClient, ask: Ask, queries: readonly string[]): Promise<Row[][]> {
  // The names of tables are in no line of their own: a line may be a command of the client.
  const printed = await ask(queries.flatMap((sql) => [client.echo(MARK), sql]).join('\n'));
  const [, ...parts] = printed.split(new RegExp(`^${MARK}\\r?\\n`, 'm'));
  try {
    return parts.map(rowsIn);
  } catch (error) {
    throw unreadable(`${client.files[0]} printed something other than rows`, error);
  }
}
