import { usage } from '../contract/error.ts';
import { type DatabaseClient, doubleQuoted, text } from './client.ts';
import { addressesOf, type Resolve, type ServerAddress } from './hosts.ts';

const PORT = 5432;

/** All but numbers, truth values, times and texts becomes text: JSON may be nested too deeply to compare. */
const WRAPPED = "CASE WHEN y.typcategory IN ('N', 'B', 'D', 'S') THEN '' ELSE 'text' END";

/** A host that psql tries. */
interface Endpoint {
  /** As written, for the certificate and the password file; empty for the default socket. */
  name: string;
  /** Empty for a socket. */
  address: string;
  port: string;
}

/** @throws GatewayError `forbidden`, `check_failed`, `usage` */
export async function openPostgres(server: ServerAddress, resolve: Resolve): Promise<DatabaseClient> {
  const found = await Promise.all(hostsOf(server).map((host) => endpointsOf(host, resolve)));
  return {
    files: ['psql'],
    args: ['-X', '-A', '-t', '-q', '-w', '-v', 'ON_ERROR_STOP=1', '-d', urlOf(server, found.flat())],
    packageName: 'postgresql-client',
    env: { PGCONNECT_TIMEOUT: '5', PGAPPNAME: 'gateway-sim' },
    // The first query takes the snapshot.
    begin: (ask) =>
      ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL lock_timeout = 500; SELECT 1;'),
    end: 'COMMIT;',
    schema: `SELECT json_build_object('t', c.relname, 'c', a.attname, 'k', coalesce(a.attnum = ANY (i.indkey), false), 'w', ${WRAPPED})
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type y ON y.oid = a.atttypid
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = ANY (current_schemas(false)) ORDER BY c.relname, a.attnum;`,
    echo: (line) => `\\echo ${text(line)}`,
    count: (table) => `SELECT json_build_object('n', count(*)) FROM ${doubleQuoted(table)};`,
    select: (table, columns) => {
      const values = columns.map(({ name, wrap }) =>
        wrap ? `${doubleQuoted(name)}::${wrap} AS ${doubleQuoted(name)}` : doubleQuoted(name),
      );
      return `SELECT row_to_json(one) FROM (SELECT ${values.join(', ')} FROM ${doubleQuoted(table)}) one;`;
    },
  };
}

/** The hosts of an address, read as psql reads it: parameters and the variable PGHOST may name them, too. */
function hostsOf({ hosts, parameters }: ServerAddress): Endpoint[] {
  const listed = (name: string) => parameters.get(name)?.split(',');
  const written = hosts.some(({ name }) => name !== '') ? hosts.map(({ name }) => name) : undefined;
  const names = listed('host') ?? written ?? process.env['PGHOST']?.split(',') ?? [''];
  const addresses = listed('hostaddr') ?? [''];
  const ports = listed('port') ?? hosts.map(({ port }) => port);
  const count = Math.max(names.length, addresses.length);
  const values = [names, addresses, ports];
  if (values.some(({ length }) => length !== 1 && length !== count))
    throw usage(
      `--db must name as many ports and addresses as hosts (got ${values.map(({ length }) => length).join(', ')})`,
    );
  const at = (list: readonly string[], index: number) => list[list.length === 1 ? 0 : index] ?? '';
  return Array.from({ length: count }, (_, index) => ({
    name: at(names, index),
    address: at(addresses, index),
    port: at(ports, index),
  }));
}

/** A host once for each of its addresses. */
async function endpointsOf({ name, address, port }: Endpoint, resolve: Resolve): Promise<Endpoint[]> {
  // A path or an abstract name is a socket.
  const isSocket = address === '' && (name === '' || /^[/@]/.test(name));
  if (isSocket) return [{ name, address, port }];
  const found = await addressesOf(address || name, Number(port) || PORT, resolve);
  return found.map((one) => ({ name, address: one, port }));
}

/** The address for psql. Even an empty host address replaces the one in a variable or a service file. */
function urlOf({ user, database, parameters }: ServerAddress, endpoints: readonly Endpoint[]): string {
  const joined = (key: keyof Endpoint) => endpoints.map((endpoint) => endpoint[key]).join(',');
  const hasPort = endpoints.some(({ port }) => port !== '');
  const all = new Map([...parameters, ['host', joined('name')], ['hostaddr', joined('address')]]);
  if (hasPort) all.set('port', joined('port'));
  const query = [...all].map((pair) => pair.map(encodeURIComponent).join('='));
  return `postgres://${user && `${encodeURIComponent(user)}@`}/${encodeURIComponent(database)}?${query.join('&')}`;
}
