import { usage } from '../contract/error.ts';
import type { DatabaseClient } from './client.ts';
import { mysql } from './mysql.ts';
import { postgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/** Opens the client of a database for a reading. @throws GatewayError `check_failed`, `usage` */
export type OpenClient = () => Promise<DatabaseClient>;

/**
 * How to open the client of a database.
 *
 * @param db `sqlite:<file>`, `mysql://user@host[:port]/name[?socket=…]` or `postgres://…`
 * @throws GatewayError `usage`
 */
export function openerOf(db: string): OpenClient {
  const [, kind = '', rest = ''] = /^(sqlite|mysql|mariadb|postgres(?:ql)?):(.*)$/s.exec(db) ?? [];
  if (kind === 'sqlite' && rest !== '') return () => openSqlite(rest.replace(/^\/\/(?=\/)/, ''));
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
  const client = isPostgres ? postgres(db) : mysql(url);
  return async () => client;
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
