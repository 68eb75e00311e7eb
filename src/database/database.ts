import { spawn } from 'node:child_process';
import { GatewayError, usage } from '../contract/error.ts';
import { clearTimeout, setTimeout } from '../system/real-time.ts';
import { clientOf, type DatabaseClient, hostOf, MARK, rowsIn } from './clients.ts';
import { readInserts } from './inserts.ts';
import type { Row, Rows } from './rows.ts';
import { textOf as plain } from './rows.ts';

export interface DatabaseOptions {
  /** `sqlite:<file>`, `mysql://user@host[:port]/name` or `postgres://…`. */
  db?: string | undefined;
  /** A command that prints INSERT statements with the names of the columns. */
  dbCmd?: string | undefined;
  /** Tables that are not read. */
  dbSkip?: readonly string[] | undefined;
}

const LIMIT_MS = 5_000;
const MAX_BYTES = 64 * 2 ** 20;
/** Larger tables are left out. */
const MAX_ROWS = 20_000;
const MAX_ERROR = 2_000;

interface Table {
  name: string;
  columns: string[];
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
    const host = db === undefined ? null : hostOf(db);
    const problem = host === null ? null : unreachable(`http://${host}/`);
    if (problem !== null) throw new GatewayError('forbidden', `--db is not allowed: ${problem}`);
  }

  /** Every row, as of one moment. @throws GatewayError `check_failed` */
  async read(): Promise<Rows> {
    const { dbCmd, dbSkip = [] } = this.#options;
    if (!this.#client) {
      const printed = await run({ line: dbCmd ?? '' });
      const tables = [...readInserts(printed)].filter(([name]) => !dbSkip.includes(name));
      return new Map(
        tables.map(([name, rows]) => [name, keyed(rows, rows[0] && 'id' in rows[0] ? ['id'] : [])]),
      );
    }
    const client = this.#client;
    this.#tables ??= this.#readTables(client);
    const tables = await this.#tables.catch((error: unknown) => {
      this.#tables = undefined;
      throw error;
    });
    const found = await query(
      client,
      tables.map(({ name, columns, key }) => [name, client.select(name, columns, key.length > 0)]),
    );
    return new Map(tables.map(({ name, key }) => [name, keyed(found.get(name) ?? [], key)]));
  }

  async #readTables(client: DatabaseClient): Promise<Table[]> {
    const { dbSkip = [] } = this.#options;
    const tables = new Map<string, Table>();
    for (const { t, c, k } of (await query(client, [['schema', client.schema]])).get('schema') ?? []) {
      const [name, column] = [String(t), String(c)];
      const table = tables.get(name) ?? { name, columns: [], key: [] };
      tables.set(name, table);
      table.columns.push(column);
      if (k === true || k === 1) table.key.push(column);
    }
    const wanted = [...tables.values()].filter(({ name }) => !dbSkip.includes(name));
    const counts = await query(
      client,
      wanted.map(({ name }) => [name, client.count(name)]),
    );
    return wanted.filter(({ name }) => {
      const count = Number(counts.get(name)?.[0]?.['n'] ?? 0);
      if (count > MAX_ROWS) this.notices.add(`the table ${name} has ${count} rows, so it is left out`);
      return count <= MAX_ROWS;
    });
  }
}

/** Rows by their key. A row without a key has its whole content as its key, and a number if it is not the first. */
function keyed(rows: readonly Row[], key: readonly string[]): Map<string, Row> {
  const names = key.length ? key : ['rowid'];
  const found = new Map<string, Row>();
  for (const row of rows) {
    const isNamed = names.every((name) => name in row);
    const own = isNamed ? names.map((name) => plain(row[name])).join(', ') : JSON.stringify(row);
    let [unique, count] = [own, 1];
    while (found.has(unique)) unique = `${own} #${++count}`;
    found.set(unique, row);
  }
  return found;
}

/** What each query printed, by the name that is given with it. All are run in one transaction. */
async function query(
  client: DatabaseClient,
  queries: readonly (readonly [name: string, sql: string])[],
): Promise<Map<string, Row[]>> {
  const statements = queries.flatMap(([name, sql]) => [client.echo(MARK + name), sql]);
  const printed = await run(client, [client.begin, ...statements, client.end, ''].join('\n'));
  const parts = printed.split(new RegExp(`^${MARK}`, 'm')).slice(1);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf('\n');
      const [name, body] = end < 0 ? [part, ''] : [part.slice(0, end), part.slice(end + 1)];
      return [name.trimEnd(), rowsIn(body)];
    }),
  );
}

/**
 * Runs a client, or a command of the user.
 *
 * @throws GatewayError `check_failed` if it fails, takes too long or prints too much; `usage` if it is not installed
 */
async function run(
  program: Pick<DatabaseClient, 'file' | 'args' | 'packageName' | 'env'> | { line: string },
  input = '',
): Promise<string> {
  const isLine = 'line' in program;
  const name = isLine ? program.line : program.file;
  const child = isLine
    ? spawn(program.line, { shell: true, stdio: 'pipe' })
    : spawn(program.file, program.args, { stdio: 'pipe', env: { ...process.env, ...program.env } });
  const chunks: Buffer[] = [];
  let size = 0;
  let problem: string | undefined;
  let errors = '';
  const timer = setTimeout(() => {
    problem = `did not finish within ${LIMIT_MS / 1_000} s`;
    child.kill('SIGKILL');
  }, LIMIT_MS);
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BYTES) chunks.push(chunk);
    else if (problem === undefined) {
      problem = `printed more than ${MAX_BYTES / 2 ** 20} MiB: leave tables out with --db-skip`;
      child.kill('SIGKILL');
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < MAX_ERROR) errors += text;
  });
  // A client that ends early does not read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve);
    child.on('error', ({ message }) => {
      clearTimeout(timer);
      const missing = isLine ? '' : `: install the package ${program.packageName}`;
      reject(usage(`the database cannot be read, because ${name} cannot be run (${message})${missing}`));
    });
  });
  clearTimeout(timer);
  const [said = ''] = errors.trim().split('\n');
  if (problem === undefined && (code !== 0 || (!isLine && /^(?:Parse error|Error):/m.test(errors))))
    problem = `failed: ${said}`;
  if (problem !== undefined)
    throw new GatewayError('check_failed', `the database cannot be read: ${name} ${problem}`);
  return Buffer.concat(chunks).toString('utf8');
}
