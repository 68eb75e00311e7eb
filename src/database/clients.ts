import { usage } from '../contract/error.ts';
import type { Row } from './changes.ts';

/*
 * The databases of shops, each read by its own client: a program that the shop's developer has, and that knows its
 * versions, sockets and passwords.
 */

/** A program to run, and how to ask it. */
export interface DatabaseClient {
  /** Names of the program: the first that is installed is run. */
  files: readonly string[];
  args: readonly string[];
  /** The package that has the program. */
  packageName: string;
  /** Environment variables, in addition to those of this process. */
  env?: Readonly<Record<string, string>>;
  /** Statements before and after the queries: one transaction that reads only, and waits for nobody. */
  begin: string;
  end: string;
  /** Prints `{"t": table, "c": column, "k": whether it is in the primary key, "w": a function that makes text of it}` for each column. */
  schema: string;
  /** Prints a line. */
  echo: (line: string) => string;
  /** Prints `{"n": the number of rows}`. */
  count: (table: string) => string;
  /** Prints each row of a table as JSON; without a primary key, with its `rowid` if the database has one. */
  select: (table: string, columns: readonly Column[], hasKey: boolean) => string;
}

export interface Column {
  name: string;
  /** The function that makes text of its values, if JSON cannot hold them; empty if it can. */
  wrap: string;
}

/** Marks the lines that are not rows. No row begins with it: each begins with a brace or a bracket. */
export const MARK = '==';

const doubleQuoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

function sqlite(file: string): DatabaseClient {
  return {
    files: ['sqlite3'],
    // A name that begins with a dash is not an option.
    args: ['-batch', '-readonly', '-json', file.startsWith('-') ? `./${file}` : file],
    packageName: 'sqlite3',
    begin: '.bail on\n.timeout 500\nBEGIN;',
    end: 'COMMIT;',
    schema:
      "SELECT m.name AS t, p.name AS c, p.pk > 0 AS k FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!';",
    echo: (line) => `.print ${JSON.stringify(line)}`,
    count: (table) => `SELECT count(*) AS n FROM ${doubleQuoted(table)};`,
    select: (table, _, hasKey) =>
      `SELECT ${hasKey ? '' : 'rowid AS "rowid", '}* FROM ${doubleQuoted(table)};`,
  };
}

function postgres(url: string): DatabaseClient {
  return {
    files: ['psql'],
    args: ['-X', '-A', '-t', '-q', '-w', '-v', 'ON_ERROR_STOP=1', '-d', url],
    packageName: 'postgresql-client',
    env: { PGCONNECT_TIMEOUT: '5', PGAPPNAME: 'gateway-sim' },
    begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL lock_timeout = 500;',
    end: 'COMMIT;',
    schema: `SELECT json_build_object('t', c.relname, 'c', a.attname, 'k', coalesce(a.attnum = ANY (i.indkey), false))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = ANY (current_schemas(false)) ORDER BY c.relname, a.attnum;`,
    echo: (line) => `\\echo ${text(line)}`,
    count: (table) => `SELECT json_build_object('n', count(*)) FROM ${doubleQuoted(table)};`,
    select: (table) => `SELECT row_to_json(one)::jsonb FROM ${doubleQuoted(table)} one;`,
  };
}

/** Bytes are no JSON, and MariaDB puts JSON into JSON as it is stored, with its line breaks. */
const WRAPPED =
  "CASE WHEN c.character_set_name IS NULL AND c.data_type REGEXP 'binary|blob|bit|geometry|point|string|polygon' THEN 'HEX' WHEN c.data_type IN ('json', 'longtext') THEN 'CONCAT' ELSE '' END";

function mysql(url: URL): DatabaseClient {
  const { username, hostname, port, pathname, searchParams } = url;
  const socket = searchParams.get('socket');
  const quote = (name: string) => `\`${name.replaceAll('`', '``')}\``;
  const object = (pairs: readonly (readonly [string, string])[]) =>
    // Unlike in the other databases, a backslash escapes.
    `JSON_OBJECT(${pairs.flatMap(([name, value]) => [text(name.replaceAll('\\', '\\\\')), value]).join(', ')})`;
  return {
    files: ['mysql', 'mariadb'],
    args: [
      ...[
        '--batch',
        '--raw',
        '--skip-column-names',
        '--connect-timeout=5',
        '--default-character-set=utf8mb4',
      ],
      ...(username ? [`--user=${decodeURIComponent(username)}`] : []),
      ...(hostname ? [`--host=${hostname.replace(/^\[|\]$/g, '')}`] : []),
      ...(port ? [`--port=${port}`] : []),
      ...(socket ? [`--socket=${socket}`] : []),
      `--database=${decodeURIComponent(pathname.slice(1))}`,
    ],
    packageName: 'mariadb-client or mysql-client',
    begin: 'SET SESSION lock_wait_timeout = 1; START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;',
    end: 'COMMIT;',
    schema: `SELECT ${object([
      ['t', 'c.table_name'],
      ['c', 'c.column_name'],
      ['k', "c.column_key = 'PRI'"],
      ['w', WRAPPED],
    ])} FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name) WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position;`,
    echo: (line) => `SELECT ${text(line)};`,
    count: (table) => `SELECT ${object([['n', 'COUNT(*)']])} FROM ${quote(table)};`,
    select: (table, columns) =>
      `SELECT ${object(columns.map(({ name, wrap }) => [name, wrap ? `${wrap}(${quote(name)})` : quote(name)]))} FROM ${quote(table)};`,
  };
}

/**
 * The client of a database.
 *
 * @param db `sqlite:<file>`, `mysql://user@host[:port]/name[?socket=…]` or `postgres://…`
 * @throws GatewayError `usage`
 */
export function clientOf(db: string): DatabaseClient {
  const [, kind = '', rest = ''] = /^(sqlite|mysql|mariadb|postgres(?:ql)?):(.*)$/s.exec(db) ?? [];
  if (kind === 'sqlite' && rest !== '') return sqlite(rest.replace(/^\/\/(?=\/)/, ''));
  if (kind === '' || !URL.canParse(db) || !rest.startsWith('//')) {
    throw usage(
      `--db is sqlite:<file>, mysql://user@host/name or postgres://user@host/name (got "${db.replace(/:[^:@/]*@/, ':…@')}")`,
    );
  }
  const url = new URL(db);
  const isPostgres = kind.startsWith('postgres');
  if (url.password !== '' || url.searchParams.has('password')) {
    const [file, variable] = isPostgres ? ['~/.pgpass', 'PGPASSWORD'] : ['~/.my.cnf', 'MYSQL_PWD'];
    throw usage(`--db must not contain a password: put it into ${file}, or into the variable ${variable}`);
  }
  if (url.pathname.length < 2)
    throw usage(`--db must end with the name of the database, as in ${kind}://localhost/shop`);
  return isPostgres ? postgres(db) : mysql(url);
}

/** The hosts that an address of a database names; none for a file or a socket. */
export function hostsOf(db: string): string[] {
  if (db.startsWith('sqlite:')) return [];
  const { hostname, searchParams } = new URL(db);
  // PostgreSQL also takes lists of hosts, as parameters. A path or an abstract name is a socket.
  const named = ['host', 'hostaddr']
    .flatMap((name) => searchParams.getAll(name))
    .flatMap((all) => all.split(','));
  return [decodeURIComponent(hostname), ...named].filter((host) => host !== '' && !/^[/@]/.test(host));
}

/** The rows that a client printed for one query: lines of JSON, or one list. */
export function rowsIn(printed: string): Row[] {
  const body = printed.trim();
  if (body === '') return [];
  return body.startsWith('[') ? JSON.parse(body) : body.split('\n').map((line) => JSON.parse(line));
}
