import { usage } from '../contract/error.ts';
import { type DatabaseClient, text } from './client.ts';
import { addressesOf, type Resolve, type ServerAddress } from './hosts.ts';

/** Bytes are no JSON, and MariaDB puts JSON into JSON as it is stored, with its line breaks. */
const WRAPPED =
  "CASE WHEN c.character_set_name IS NULL AND c.data_type REGEXP 'binary|blob|bit|geometry|point|string|polygon' THEN 'HEX' WHEN c.data_type IN ('json', 'longtext') THEN 'CONCAT' ELSE '' END";

const PORT = 3306;

/** MySQL and MariaDB. @throws GatewayError `forbidden`, `check_failed`, `usage` */
export async function openMysql(server: ServerAddress, resolve: Resolve): Promise<DatabaseClient> {
  const { user, hosts, database, parameters } = server;
  const [{ name, port } = { name: '', port: '' }, ...others] = hosts;
  if (others.length)
    throw usage(`--db must name one host for mysql (got "${hosts.map((host) => host.name).join(',')}")`);
  const socket = parameters.get('socket');
  const isSocket = socket !== undefined || name === '' || (name === 'localhost' && port === '');
  // The name would be resolved again, and the client has no option for both. A certificate is then checked for the address.
  const addresses = isSocket ? ['localhost'] : await addressesOf(name, Number(port) || PORT, resolve);
  // The client tries only one. Servers listen on IPv4 by default.
  const host = addresses.find((address) => !address.includes(':')) ?? addresses[0];
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
        '--unbuffered',
        // It would ask in another session, without the settings and the transaction of this one.
        '--skip-reconnect',
        '--connect-timeout=5',
        '--default-character-set=utf8mb4',
      ],
      ...(user ? [`--user=${user}`] : []),
      `--host=${host}`,
      ...(port ? [`--port=${port}`] : []),
      ...(socket ? [`--socket=${socket}`] : []),
      `--database=${database}`,
    ],
    packageName: 'mariadb-client or mysql-client',
    begin: (ask) =>
      ask('SET SESSION lock_wait_timeout = 1; START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;'),
    end: 'COMMIT;',
    schema: `SELECT ${object([
      ['t', 'c.table_name'],
      ['c', 'c.column_name'],
      ['k', "c.column_key = 'PRI'"],
      ['w', WRAPPED],
      ['l', "t.engine NOT IN (SELECT engine FROM information_schema.engines WHERE transactions = 'YES')"],
    ])} FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name) WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position;`,
    echo: (line) => `SELECT ${text(line)};`,
    count: (table) => `SELECT ${object([['n', 'COUNT(*)']])} FROM ${quote(table)};`,
    select: (table, columns) =>
      `SELECT ${object(columns.map(({ name, wrap }) => [name, wrap ? `${wrap}(${quote(name)})` : quote(name)]))} FROM ${quote(table)};`,
  };
}
