import { usage } from '../contract/error.ts';
import type { DatabaseClient } from './client.ts';
import type { Resolve } from './hosts.ts';
import { openMysql } from './mysql.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/** Opens the client of a database for a reading. @throws GatewayError `check_failed`, `forbidden`, `usage` */
export type OpenClient = (resolve: Resolve) => Promise<DatabaseClient>;

const SERVER = /^(mysql|mariadb|postgres|postgresql):\/\/(?:([^@/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s;
const HOST = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d*))?$/;

/**
 * How to open the client of a database.
 *
 * @param db `sqlite:<file>`, `mysql://user@host[:port]/name[?socket=…]` or `postgres://…`
 * @throws GatewayError `usage`
 */
export function openerOf(db: string): OpenClient {
  const [, file] = /^sqlite:(.+)$/s.exec(db) ?? [];
  if (file !== undefined) return () => openSqlite(file.replace(/^\/\/(?=\/)/, ''));
  const [, kind = '', login = '', hosts = '', database = '', query = ''] = SERVER.exec(db) ?? [];
  if (kind === '') {
    throw usage(
      `--db is sqlite:<file>, mysql://user@host/name or postgres://user@host/name (got "${db.replace(/:[^:@/]*@/, ':…@')}")`,
    );
  }
  const isPostgres = kind.startsWith('postgres');
  const pairs = query
    .split('&')
    .filter(Boolean)
    .map((pair) => pair.split(/=(.*)/s));
  const parameters = new Map(pairs.map(([name = '', value = '']) => [decoded(name), decoded(value)]));
  const [user = '', password = ''] = login.split(/:(.*)/s);
  if (password !== '' || parameters.has('password')) {
    const [file, variable] = isPostgres ? ['~/.pgpass', 'PGPASSWORD'] : ['~/.my.cnf', 'MYSQL_PWD'];
    throw usage(`--db must not contain a password: put it into ${file}, or into the variable ${variable}`);
  }
  if (database === '')
    throw usage(`--db must end with the name of the database, as in ${kind}://localhost/shop`);
  const address = {
    user: decoded(user),
    hosts: hosts.split(',').flatMap(hostsIn),
    database: decoded(database),
    parameters,
  };
  return (resolve) => (isPostgres ? openPostgres(address, resolve) : openMysql(address, resolve));
}

function hostsIn(written: string): { name: string; port: string }[] {
  const [found, ip, name = '', port = ''] = HOST.exec(written) ?? [];
  if (found === undefined)
    throw usage(`--db has an invalid host: expected host, host:port or [IPv6]:port (got "${written}")`);
  // An encoded comma separates hosts, too.
  return decoded(ip ?? name)
    .split(',')
    .map((one) => ({ name: one, port }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw usage(`--db has a % that encodes nothing: write it as %25 (got "${text}")`);
  }
}
