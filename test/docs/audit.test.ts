import { expect, test } from 'vitest';
import { AUDIT_CLASSES, AUDIT_PRESETS, AUDIT_VERDICTS } from '../../src/audit/vocabulary.ts';
import { startAudited } from '../helpers/auditable.ts';
import { MISSING, startSqliteShop } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';
import { SECRET } from '../merchants/node-shop.ts';
import { fence, page } from './pages.ts';
import { typed } from './typed.ts';

/** A shop that returns the order fields that the page reads. */
async function auditedShop() {
  const { shop, options } = await startAudited();
  const { probe } = shop;
  shop.probe = (identifier) => {
    const { credited, ...order } = JSON.parse(probe(identifier));
    return JSON.stringify({ ...order, effects: credited });
  };
  return { shop, options };
}

/** Commands for a shop of these tests, which takes orders at `/order`. */
const at = (url: string, commands: string) =>
  commands.replaceAll(/http:\/\/localhost:3000(\/orders(?!\/))?/g, (_, orders) =>
    orders ? `${url}/order` : url,
  );

test.skipIf(MISSING)(
  `the first command of the audit page and of README works${MISSING && ` (not tried here: ${MISSING} is missing)`}`,
  async () => {
    const cwd = await temporaryFolder();
    const sim = await startSim({ secretKey: SECRET });
    const url = await startSqliteShop(cwd, sim, {});
    const pages = ['audit.md', 'README.md'].map((name) => fence(`${name}: Is your IPN handler safe?`, 'sh'));
    for (const command of new Set(pages)) {
      const line = at(url, command);
      const env = { GATEWAY_SIM_URL: sim.url };
      const audited = await typed(line, { cwd, env, more: ['--only', 'control'] });
      expect([audited.code, audited.stdout]).toEqual([0, expect.stringContaining('1 case: 1 pass')]);
    }
  },
);

test('the commands on the audit page work', async () => {
  const { shop, options } = await auditedShop();
  const type = (place: string, ...more: string[]) =>
    typed(at(shop.url, fence(place, 'sh')), { ...options, more });
  const audited = await type('audit.md: What it needs', '--only', 'A');
  expect([audited.code, audited.stdout]).toEqual([0, expect.stringMatching(/^(\d+) cases: \1 pass\./m)]);
  await shop.place();
  const reconciled = await type('audit.md: Do the shop and the gateway agree?');
  expect([reconciled.code, reconciled.stderr]).toEqual([0, '']);
});

test('the command of the CI job works', async () => {
  const [, line = ''] = /(npx gateway-sim audit .*)/.exec(fence('audit.md: In CI', 'yaml')) ?? [];
  const { shop, options } = await auditedShop();
  const more = ['--order-url', `${shop.url}/order`, '--only', 'control'];
  const audited = await typed(line.replace('http://localhost:3000', shop.url), { ...options, more });
  expect(audited).toMatchObject({ code: 0, stdout: expect.stringContaining('1 case: 1 pass') });
});

test('every class, verdict and preset is documented', () => {
  const rows = [...Object.keys(AUDIT_CLASSES).filter((kind) => kind !== 'control')].map(
    (kind) => `| ${kind} | `,
  );
  const names = [...Object.keys(AUDIT_VERDICTS), ...Object.keys(AUDIT_PRESETS)].map(
    (name) => `| \`${name}\` | `,
  );
  for (const row of [...rows, ...names]) expect(page('audit.md')).toContain(row);
});
