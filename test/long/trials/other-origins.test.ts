import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { SNAPSHOT_VERSION } from '../../../src/store/snapshot.ts';
import { launchBrowser, openPage } from '../../helpers/browser.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { ORDER } from '../../helpers/sim.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { pick } from '../hostile-values.ts';
import { type Budget, trial } from '../trial.ts';

/** A request that an attacker would want to send. */
interface Target {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body: string;
}

/** At least this many ways must be able to read their own origin. Otherwise, the trial would detect nothing. */
const READABLE = 10;

/** The only response texts that another origin may read. */
const REFUSAL =
  /"code":"(forbidden|method_not_allowed|unauthorized)"|may not initiate payments|is not served for the host name|does not accept requests from pages on other sites/;

const READ = [
  ...['/_sim/status', '/_sim/merchants', '/_sim/snapshot', '/_sim/payments', '/_sim/requests', '/_sim/inbox'],
  ...['/_sim/events?since=0&follow=false', '/_sim/openapi.json', '/_sim/clock', '/_sim/faults', '/_sim'],
  ...['/_sim/ui/settings', '/_sim/ui/payments', '/_sim/ui/logo.svg', '/_sim/wallets'],
  ...['/api/cards', '/api/cards/card_1'],
];

const CHANGES: readonly (readonly [Target['method'], string, object])[] = [
  ['POST', '/_sim/reset', {}],
  ['POST', '/_sim/shutdown', {}],
  ['POST', '/_sim/merchants', { name: 'Evil' }],
  ['POST', '/_sim/clock', { advance: '1000h' }],
  ['POST', '/_sim/faults', { route: 'initiate', status: 500 }],
  ['PUT', '/_sim/faults', { faults: [{ route: 'initiate', drop: true }] }],
  ['DELETE', '/_sim/faults', {}],
  ['PUT', '/_sim/snapshot', { version: SNAPSHOT_VERSION }],
  ['POST', '/_sim/wallets/wal_rich_usd/fund', { amount: '1' }],
  ['POST', '/_sim/ipns', { to: 'http://127.0.0.1:9/', amount: '1' }],
  ['POST', '/_sim/ui/token', {}],
  ['POST', '/_sim/ui/settings/keys', {}],
  ['POST', '/_sim/ui/settings/reset', {}],
  ['POST', '/_sim/ui/payments', {}],
  ['POST', '/api/cards/save', {}],
  ['PUT', '/api/cards/cancel/card_1', {}],
];

/** The part of the state that a page from another origin must not change. */
async function stateOf({ control }: Emulator): Promise<string> {
  const { payments, ...state } = await control<{ payments: { id: string; status: string }[] }>('/snapshot');
  const statuses = payments.map(({ id, status }) => [id, status]);
  return JSON.stringify([
    statuses,
    state,
    await control('/faults'),
    (await control<{ frozen: boolean }>('/clock')).frozen,
  ]);
}

async function attack(
  budget: Budget,
  page: Page,
  sim: Emulator,
  target: Target & { url: string },
): Promise<void> {
  const before = await stateOf(sim);
  const tried = (await page.evaluate(`attackWith(${JSON.stringify(target)})`)) as [string, string][];
  const shown = `${target.method} ${target.url} from ${page.url()}`;
  for (const [way, seen] of tried) {
    if (seen && !REFUSAL.test(seen))
      budget.fail('outside', `${way} could read ${shown}: ${seen.slice(0, 200)}`);
  }
  await sim.check(budget, shown);
  if ((await stateOf(sim)) !== before) budget.fail('outside', `${shown} changed the state`);
  budget.cases(tried.length);
  budget.requests(tried.length);
}

trial(
  'every kind of request from a page from another origin',
  { short: 60, least: 1_000, share: 4 },
  async (budget) => {
    const script = await readFile(new URL('../attacks.js', import.meta.url), 'utf8');
    const html = `<!doctype html><title>evil</title><link rel="icon" href="data:,"><body><script>${script.replaceAll('</script', '<\\/script')}</script>`;
    const evil = await startReceiver(() => ({ headers: { 'content-type': 'text/html' }, body: html }));
    // This profile also accepts initiate by GET.
    const sim = await startEmulator(['--quiet', '--profile', 'server']);
    const form = new URLSearchParams({ public_key: sim.publicKey, ...ORDER });
    const initiated = await fetch(`${sim.url}/sandbox/payment/initiate`, { method: 'POST', body: form });
    const { url: checkout = '' } = (await initiated.json()) as { url?: string };
    const browser = await launchBrowser([
      '--host-resolver-rules=MAP *.test 127.0.0.1, MAP *.example 127.0.0.1',
      // Chromium's own protection of local addresses, which other browsers lack.
      '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights',
    ]);
    const { page, errors } = await openPage({}, browser);
    const strange = `http://evil.example:${evil.port}`;
    const rebound = `http://rebound.example:${sim.port}`;
    // The page was loaded from the attacker's server, before the name was rebound.
    await page.route(`${rebound}/page`, (route) => route.fulfill({ contentType: 'text/html', body: html }));
    const origins = [
      strange,
      `http://evil.localhost:${evil.port}`,
      evil.url,
      `http://evil.test:${evil.port}`,
      rebound,
    ];
    const settle = ['/email', '/code', '/cancel', '/panel', '/resend', '/back'].map((step) =>
      checkout.replace('/checkout?', `/checkout${step}?`).replace(sim.url, ''),
    );
    const targets: Target[] = [
      ...READ.map((path) => ({ method: 'GET' as const, path, body: '' })),
      ...CHANGES.map(([method, path, body]) => ({ method, path, body: JSON.stringify(body) })),
      { method: 'POST', path: '/_sim/payments/order-1/settle', body: JSON.stringify({ outcome: 'approve' }) },
      ...settle.map((path) => ({
        method: 'POST' as const,
        path,
        body: JSON.stringify({ outcome: 'approve' }),
      })),
    ];
    // Pages from local origins may initiate.
    const initiates: Target[] = ['/payment/initiate', '/sandbox/payment/initiate'].flatMap((path) => [
      { method: 'POST', path, body: String(form) },
      { method: 'GET', path: `${path}?${form}`, body: '' },
    ]);
    await page.goto(`${evil.url}/page`);
    const own = JSON.stringify({ method: 'GET', url: `${evil.url}/own`, body: '' });
    // Repeated, because few ways finish in time on a busy machine.
    let readable = 0;
    for (let attempt = 0; attempt < 10 && readable < READABLE; attempt++) {
      const tried = (await page.evaluate(`attackWith(${own})`)) as [string, string][];
      readable = Math.max(readable, tried.filter(([, seen]) => seen).length);
    }
    if (readable < READABLE) budget.fail('other', `only ${readable} ways can read their own origin`);
    for (let round = 0; budget.more(); round++) {
      const origin = origins[round % origins.length] ?? evil.url;
      await page.goto(`${origin}/page`);
      const lists = origin === strange ? [initiates, targets] : [targets];
      const next = budget.short ? lists.map((list) => pick(list, budget.below)) : lists.flat();
      for (const target of budget.shuffled(next)) {
        if (!budget.more()) break;
        const base = origin === rebound ? rebound : sim.url;
        await attack(budget, page, sim, { ...target, url: base + target.path });
      }
      errors.length = 0;
    }
  },
);
