import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { openerOf } from '../../src/database/address.ts';
import { Database } from '../../src/database/database.ts';

/** Hosts by name. Others cannot be resolved. */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'db.lan': ['fd00::5', '10.0.0.5'],
  'a.localhost': ['127.0.0.1', '::1'],
  localhost: ['127.0.0.1'],
  '::1': ['::1'],
  '10.0.0.6': ['10.0.0.6'],
};

async function resolve(host: string, port: number) {
  if (/^198\./.test(host) || host === 'db.example.com')
    throw new GatewayError('forbidden', `${host} port ${port} is public`);
  return HOSTS[host] ?? Promise.reject(new Error('ENOTFOUND'));
}

/** The last argument of psql, and those of mysql about the connection. */
async function connection(db: string) {
  const { args } = await openerOf(db)(resolve);
  const ofMysql = args.filter((one) => /^--(user|host|port|socket|database)=/.test(one));
  return ofMysql.length ? ofMysql.join(' ') : decodeURIComponent(args.at(-1) ?? '');
}

describe('the address of a database', () => {
  it.each([
    ['sqlite:', '--db is sqlite:<file>, mysql://user@host/name or postgres://user@host/name (got "sqlite:")'],
    ['shop.db', 'got "shop.db"'],
    ['mysql://root:pass@127.0.0.1/shop', 'must not contain a password: put it into ~/.my.cnf'],
    ['postgres://a:b@localhost/shop', 'put it into ~/.pgpass, or into the variable PGPASSWORD'],
    ['postgres://localhost/shop?password=b', 'must not contain a password'],
    ['postgres://localhost', 'must end with the name of the database'],
    ['postgres://::1/shop', 'expected host, host:port or [IPv6]:port (got "::1")'],
    ['postgres://a:x/shop', 'invalid host'],
    ['postgres://100%/shop', 'write it as %25 (got "100%")'],
  ])('%s is rejected: %s', (db, why) => {
    expect(() => openerOf(db)).toThrow(why);
  });

  it.each([
    ['mysql://root@db.example.com/shop', 'forbidden host: db.example.com port 3306 is public'],
    ['mysql://root@198.51.100.7:33/shop', 'forbidden host: 198.51.100.7 port 33 is public'],
    ['postgres://u@198.51.100.7,a.localhost/x', 'forbidden host: 198.51.100.7 port 5432 is public'],
    ['postgres://a.localhost:1,198.51.100.7:2/x', '198.51.100.7 port 2 is public'],
    ['postgres://a.localhost%2C198.51.100.7/x', '198.51.100.7 port 5432 is public'],
    ['postgres://localhost/x?host=db.example.com', 'db.example.com port 5432 is public'],
    ['postgres:///x?hostaddr=127.0.0.1,198.51.100.7', '198.51.100.7 port 5432 is public'],
    ['postgres://db.lan/x?hostaddr=198.51.100.7&port=3', '198.51.100.7 port 3 is public'],
  ])('%s is forbidden', async (db, why) => {
    await expect(openerOf(db)(resolve)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining(why),
    });
  });

  it.each([
    ['postgres://a,b:2/x?port=1,2,3', '--db must name as many ports and addresses as hosts'],
    ['mysql://db.lan,a.localhost/x', '--db must name one host for mysql (got "db.lan,a.localhost")'],
    ['mysql://nowhere/x', 'the database cannot be read: the name nowhere cannot be resolved'],
    ['postgres://db.lan,nowhere/x', 'the name nowhere cannot be resolved'],
  ])('%s is rejected: %s', async (db, why) => {
    await expect(openerOf(db)(resolve)).rejects.toThrow(why);
  });

  it.each([
    // The name stays, for the certificate and the password file.
    ['postgres://u@db.lan/x', 'postgres://u@/x?host=db.lan,db.lan&hostaddr=fd00::5,10.0.0.5'],
    [
      'postgresql://[::1]:1,db.lan:2/x?sslmode=verify-full',
      'postgres:///x?sslmode=verify-full&host=::1,db.lan,db.lan&hostaddr=::1,fd00::5,10.0.0.5&port=1,2,2',
    ],
    [
      'postgres:///x?host=a,db.lan&hostaddr=10.0.0.6,::1',
      'postgres:///x?host=a,db.lan&hostaddr=10.0.0.6,::1',
    ],
    ['postgres:///x', 'postgres:///x?host=&hostaddr='],
    ['postgres://u@%2Frun%2Fpg:1/x', 'postgres://u@/x?host=/run/pg&hostaddr=&port=1'],
    ['mysql://root@db.lan/x', '--user=root --host=10.0.0.5 --database=x'],
    ['mariadb://[::1]:33/x', '--host=::1 --port=33 --database=x'],
    ['mysql://localhost/x', '--host=localhost --database=x'],
    ['mysql://localhost:3306/x', '--host=127.0.0.1 --port=3306 --database=x'],
    ['mysql:///a%20b', '--host=localhost --database=a b'],
    ['mysql://root@localhost/x?socket=/run/s', '--user=root --host=localhost --socket=/run/s --database=x'],
  ])('%s connects to what was checked: %s', async (db, expected) => {
    expect(await connection(db)).toBe(expected);
  });

  it('is checked before the database is connected', async () => {
    const connect = (db: string) => new Database({ db }, resolve).connect();
    await expect(connect('mysql://nowhere/x')).rejects.toThrow('the name nowhere cannot be resolved');
    await expect(connect('mysql://db.example.com/x')).rejects.toThrow('forbidden host: db.example.com');
  });

  it('may leave the host to the variable PGHOST, which is checked, too', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('PGHOST', 'db.lan');
    expect(await connection('postgres:///x')).toBe(
      'postgres:///x?host=db.lan,db.lan&hostaddr=fd00::5,10.0.0.5',
    );
    vi.stubEnv('PGHOST', 'db.example.com');
    await expect(connection('postgres:///x')).rejects.toThrow('forbidden host: db.example.com');
  });
});
