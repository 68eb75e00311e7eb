import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/audit/report.ts';
import { runJson } from '../helpers/cli.ts';
import { isInstalled, startMariaDb, startPdoShop, startPostgres } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';
import { SECRET } from '../merchants/node-shop.ts';

const SERVERS = { MariaDB: ['mariadbd', startMariaDb], PostgreSQL: ['postgres', startPostgres] } as const;

describe.each([
  ['MariaDB', 'woocommerce', 'wp_wc_orders.status', 'wp_postmeta.meta_value'],
  ['MariaDB', 'prestashop', 'ps_orders.*', 'ps_stock_available.quantity'],
  ['PostgreSQL', 'plain', 'orders.status', 'stock.quantity'],
] as const)('an audit with %s and the tables of %s', (name, layout, ...effects) => {
  const [program, start] = SERVERS[name];
  const missing = ['php', program].filter((one) => !isInstalled(one)).join(' and ');

  it.skipIf(missing)(
    `learns what a payment is, and finds what pays${missing && ` (not tried here: ${missing} is missing)`}`,
    async () => {
      const sim = await startSim({ secretKey: SECRET });
      const server = await start();
      const shop = await startPdoShop(server, sim, { LAYOUT: layout, FLAW: 'unsigned' });
      const only = ['signature-garbage', 'replay-at-once', 'copies-20'].flatMap((one) => ['--only', one]);
      const args = ['audit', '--order-url', `${shop}/order`, '--db', server.db, ...only];
      const options = { cwd: await temporaryFolder(), env: { GATEWAY_SIM_URL: sim.url } };
      const { body } = await runJson<AuditReport>(args, options);
      expect(body.learned?.payment).toEqual(expect.arrayContaining([...effects]));
      const verdicts = body.cases.map(({ name, verdict }) => [name, verdict]);
      expect(Object.fromEntries(verdicts)).toEqual({
        control: 'pass',
        'signature-garbage': 'fail',
        'replay-at-once': 'pass',
        'copies-20': 'pass',
      });
    },
  );
});
