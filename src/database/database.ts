import { GatewayError, usage } from '../contract/error.ts';
import { plainText } from '../contract/text.ts';
import { runProcess } from '../system/run-process.ts';
import { clientOf, hostsOf } from './address.ts';
import type { Row, Rows } from './changes.ts';
import { type Column, type DatabaseClient, MARK, rowsIn } from './client.ts';
import { readInserts } from './inserts.ts';

export interface DatabaseOptions {
  /** `sqlite:<file>`, `mysql://user@host[:port]/name[?socket=…]` or `postgres://…`. */
  db?: string | undefined;
  /** A command that prints INSERT statements with the names of the columns. */
  dbCmd?: string | undefined;
  /** Tables that are not read. */
  dbSkip?: readonly string[] | undefined;
}

const LIMIT_MS = 5_000;
/** In characters. */
const MAX_OUTPUT = 64 * 2 ** 20;
/** Larger tables are left out. */
const MAX_ROWS = 20_000;

const UNREADABLE = 'the database cannot be read';

interface Table {
  name: string;
  columns: Column[];
  /** The columns of the primary key; none if it has none. */
  key: string[];
}

/** A shop's database, of which the rows are read and nothing is written. */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #client: DatabaseClient | undefined;
  #tables: Promise<Table[]> | undefined;
  /** Messages for the user, such as a table that is too large. */
  readonly notices = new Set<string>();

  /**
   * @param unreachable why an address must not be reached; null if it may
   * @throws GatewayError `usage`; `forbidden` for a database that is neither on this machine nor at a private address
   */
  constructor(options: DatabaseOptions, unreachable: (url: string) => string | null) {
    const { db, dbCmd } = options;
    if ((db === undefined) === (dbCmd === undefined)) throw usage('specify either --db or --db-cmd');
    this.#options = options;
    this.#client = db === undefined ? undefined : clientOf(db);
    for (const host of db === undefined ? [] : hostsOf(db)) {
      const problem = unreachable(`http://${host}/`);
      if (problem !== null) throw new GatewayError('forbidden', `--db is not allowed: ${problem}`);
    }
  }

  /** Every row, as of one moment. @throws GatewayError `check_failed` */
  async read(): Promise<Rows> {
    const { dbCmd, dbSkip = [] } = this.#options;
    if (!this.#client) {
      const printed = await printedBy({ files: [dbCmd ?? ''] });
      const tables = [...readInserts(printed)].filter(([name]) => !dbSkip.includes(name));
      return new Map(
        tables.map(([name, rows]) => [name, keyed(rows, rows[0] && 'id' in rows[0] ? ['id'] : [])]),
      );
    }
    const client = this.#client;
    this.#tables ??= this.#readTables(client);
    const reading = this.#tables.then(async (tables) => {
      // Tables may be created and dropped while a shop is developed.
      if (!tables.length) this.#tables = undefined;
      const select = ({ name, columns, key }: Table) => client.select(name, columns, key.length > 0);
      return { tables, found: await query(client, tables.map(select)) };
    });
    const { tables, found } = await reading.catch((error: unknown) => {
      this.#tables = undefined;
      throw error;
    });
    return new Map(tables.map(({ name, key }, index) => [name, keyed(found[index] ?? [], key)]));
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

/** Rows by their key. A row without a key has its whole content as its key, and a number if it is not the first. */
function keyed(rows: readonly Row[], key: readonly string[]): Map<string, Row> {
  const names = key.length ? key : ['rowid'];
  const found = new Map<string, Row>();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const isNamed = names.every((name) => name in row);
    const own = isNamed ? names.map((name) => plainText(row[name]) ?? '').join(', ') : JSON.stringify(row);
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
    const why = `${UNREADABLE}: ${client.files[0]} printed something other than rows`;
    throw new GatewayError('check_failed', why, { cause: error });
  }
}

/**
 * What a client, or a command of the user, prints.
 *
 * @throws GatewayError `check_failed` if it fails, takes too long or prints too much; `usage` if it is not installed
 */
async function printedBy(
  program: Pick<DatabaseClient, 'files'> &
    Partial<Pick<DatabaseClient, 'args' | 'packageName' | 'env'>> & { input?: string },
): Promise<string> {
  const { files, packageName, env = {}, ...process } = program;
  const limits = { limitMs: LIMIT_MS, maxOutput: MAX_OUTPUT };
  for (const file of files) {
    const { stdout, stderr, isCut, isMissing, problem } = await runProcess({
      ...process,
      file,
      env,
      ...limits,
    });
    if (isMissing && packageName !== undefined) continue;
    if (isCut) {
      const why = `${UNREADABLE}: ${file} prints more than 64 MiB. Leave tables out with dbSkip (--db-skip of audit and reconcile)`;
      throw new GatewayError('check_failed', why);
    }
    if (problem === undefined) return stdout;
    const [said = ''] = stderr.trim().split('\n');
    const why = `${UNREADABLE}: ${file} ${problem}${said && `: ${said.slice(0, 200)}`}`;
    throw new GatewayError('check_failed', why);
  }
  throw usage(`${UNREADABLE}: ${files.join(' or ')} is not installed. Install the package ${packageName}`);
}
