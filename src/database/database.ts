import { GatewayError, usage } from '../contract/error.ts';
import { type OpenClient, openerOf } from './address.ts';
import type { Reading, Row } from './changes.ts';
import { type Column, type DatabaseClient, MARK, rowsIn } from './client.ts';
import type { Resolve } from './hosts.ts';
import { readInserts } from './inserts.ts';
import { printedBy, unreadable } from './run-client.ts';

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
}

/** A shop's database, of which the rows are read and nothing is written. */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #resolve: Resolve;
  readonly #open: OpenClient | undefined;
  #tables: Promise<Table[]> | undefined;
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
   * Checks where the database is, before it is read. A name that cannot be resolved may have an address later.
   *
   * @throws GatewayError `forbidden` if it is neither on this machine nor at a private address
   */
  async requireAllowed(): Promise<void> {
    if (this.#options.db?.startsWith('sqlite:')) return;
    await this.#open?.(this.#resolve).catch((error: unknown) => {
      if (!(error instanceof GatewayError && error.code === 'check_failed')) throw error;
    });
  }

  /** Every row, as of one moment. @throws GatewayError `check_failed`, `forbidden`, `usage` */
  async read(): Promise<Reading> {
    const { dbCmd, dbSkip = [] } = this.#options;
    if (!this.#open) {
      const printed = await printedBy({ files: [dbCmd ?? ''] });
      const tables = [...readInserts(printed)].filter(([name]) => !dbSkip.includes(name));
      return readingOf(tables.map(([name, rows]) => ({ name, rows, key: ['id'] })));
    }
    const client = await this.#open(this.#resolve);
    try {
      return await this.#readWith(client);
    } catch (error) {
      this.#tables = undefined;
      throw error;
    } finally {
      await client.close?.();
    }
  }

  async #readWith(client: DatabaseClient): Promise<Reading> {
    this.#tables ??= this.#readTables(client);
    const tables = await this.#tables;
    // Tables may be created and dropped while a shop is developed.
    if (!tables.length) this.#tables = undefined;
    const select = ({ name, columns, key }: Table) => client.select(name, columns, key.length > 0);
    const found = await query(client, tables.map(select));
    return readingOf(
      tables.map(({ name, key }, index) => ({
        name,
        rows: found[index] ?? [],
        key: key.length ? key : ['rowid'],
      })),
    );
  }

  async #readTables(client: DatabaseClient): Promise<Table[]> {
    const { dbSkip = [] } = this.#options;
    const tables = new Map<string, Table>();
    const [columns = []] = await query(client, [client.schema]);
    for (const { t, c, k, w = '' } of columns) {
      const [name, column] = [String(t), String(c)];
      const table = tables.get(name) ?? { name, columns: [], key: [] };
      tables.set(name, table);
      table.columns.push({ name: column, wrap: String(w) });
      if (k === true || k === 1) table.key.push(column);
    }
    const wanted = [...tables.values()].filter(({ name }) => !dbSkip.includes(name));
    const counts = await query(
      client,
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

/** What each query printed, in order. All are run in one transaction. @throws GatewayError `check_failed` */
async function query(client: DatabaseClient, queries: readonly string[]): Promise<Row[][]> {
  // The names of tables are in no line of their own: a line may be a command of the client.
  const statements = queries.flatMap((sql) => [client.echo(MARK), sql]);
  const input = [client.begin, ...statements, client.end, ''].join('\n');
  const printed = await printedBy({ ...client, input });
  const [, ...parts] = printed.split(new RegExp(`^${MARK}\\r?\\n`, 'm'));
  try {
    return parts.map(rowsIn);
  } catch (error) {
    throw unreadable(`${client.files[0]} printed something other than rows`, error);
  }
}
