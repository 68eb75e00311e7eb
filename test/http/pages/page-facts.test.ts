import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../src/contract/fault.ts';
import { requireTamperings } from '../../../src/contract/tampering.ts';
import { PAYMENT_STATUSES } from '../../../src/contract/vocabulary.ts';
import { PLACES } from '../../../src/http/pages/dashboard/paths.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { pageOf } from '../../helpers/forms.ts';
import { type Receiver, startReceiver } from '../../helpers/receiver.ts';
import { ask, idOf, ORDER, paid, type Sim, startSim } from '../../helpers/sim.ts';

const textOf = (html: string) =>
  html
    .replace(/<(svg|pre|dialog)\b.*?<\/\1>/gs, ' ')
    .replace(/<\/?(?:p|div|dd|dt|li|h\d|summary|button|label|option|td|th)\b[^>]*>/g, '\n')
    .replace(/<[^>]+>/g, '')
    .replaceAll('&#39;', "'");
const mainOf = (html: string) => /<main.*<\/main>/s.exec(html)?.[0] ?? '';

/** The badge, timeline and row of a payment, and its record: what each says about the shop. */
async function shownOf(sim: Sim, identifier: string) {
  const { id } = sim.server.parts.payments.require(identifier);
  const html = await pageOf(sim, `/_sim/ui/payments/${id}`);
  const [, state, words] = /data-pill="shop" data-state="([\w-]+)">Your shop: ([^<]*)</.exec(html) ?? [];
  const row = (await pageOf(sim, '/_sim')).split('<tr ').find((one) => one.includes(`>${identifier}</a>`));
  const listed = /class="status shop [^>]*>([^<]*)</.exec(row ?? '')?.[1] ?? '';
  const attempts = html.matchAll(/class="soft">(?:[\w ]+\. )?Your shop: ([^“<]*?) ?[“<]/g);
  const said = Array.from(attempts, ([, what]) => what);
  const { shop } = (await ask<{ shop: string }>(sim, 'GET', `/payments/${id}`)).body;
  return { state, words, listed, said, html, id, shop };
}

const corrupt: FaultRule = { route: 'ipn', corruptSignature: true };

describe('the badge, the timeline, the row and the record of a payment say the same', () => {
  it.each<[string, Parameters<typeof startReceiver>[0] | null, FaultRule | null, string, string]>([
    ['delivered', [{}], null, 'accepted', 'accepted'],
    ['rejected', [{ status: 400 }], null, 'rejected', 'rejected (400)'],
    ['failed', [{ status: 500 }], null, 'failed', 'failed (500)'],
    ['redirected', [{ status: 302 }], null, 'failed', 'failed (302)'],
    ['unreachable', null, null, 'unreachable', 'unreachable (connection refused)'],
    ['denied', [{ body: '{"ok":false}' }], null, 'rejected', 'rejected (200, in its body)'],
    ['corrupted', [{}], corrupt, 'forgery-accepted', 'forged IPN accepted'],
    ['caught', [{ status: 400 }], corrupt, 'rejected', 'rejected a corrupted IPN (400)'],
    ['lost', [{}], { route: 'ipn', drop: true }, 'none', 'never reached (your fault rule dropped it)'],
    ['delayed', [{}], { route: 'ipn', delay: '1h' }, 'waiting', 'IPN delayed by your fault rule'],
  ])('%s', async (_, answers, rule, state, words) => {
    const sim = await startSim();
    const receiver = answers && (await startReceiver(answers));
    if (rule) sim.server.parts.faults.set(rule);
    await paid(sim, receiver ? { ipn_url: `${receiver.url}/ipn` } : {});
    const said = state === 'waiting' ? [] : [words];
    expect(await shownOf(sim, 'order-1')).toMatchObject({ state, words, listed: words, said, shop: words });
  });

  it.each(['cancel', 'fail', 'expire', undefined] as const)('without an IPN: %s', async (outcome) => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    if (outcome) await sim.server.parts.payments.settle('order-1', { outcome, by: 'control' });
    const state = outcome ? 'none' : 'waiting';
    const words = outcome ? 'no IPN sent' : 'no IPN yet';
    expect(await shownOf(sim, 'order-1')).toMatchObject({
      state,
      words,
      listed: words,
      said: [],
      shop: words,
    });
  });

  it('has one row for each attempt, and counts attempts and IPNs apart', async () => {
    const receiver = await startReceiver([{ status: 302 }, 'drop', {}, {}]);
    const sim = await startSim();
    const { ipns } = sim.server.parts;
    const { delivery } = await paid(sim, { ipn_url: `${receiver.url}/ipn` });
    for (let times = 0; times < 2; times++) await ipns.resend(delivery?.id ?? '');
    expect(await shownOf(sim, 'order-1')).toMatchObject({
      words: 'accepted, 3 attempts',
      said: ['failed (302)', 'unreachable (connection closed without a response)', 'accepted'],
    });
    await ipns.resend(delivery?.id ?? '', `${receiver.url}/other`);
    expect((await shownOf(sim, 'order-1')).words).toBe('accepted twice');
    await ipns.fire({ payment: 'order-1', to: `${receiver.url}/ipn`, tamper: requireTamperings('amount') });
    expect(await shownOf(sim, 'order-1')).toMatchObject({
      state: 'forgery-accepted',
      words: 'forged IPN accepted',
    });
  });
});

/** The sentences that stand more than once on a page. */
function repeatedIn(html: string): string[] {
  const sentences = textOf(mainOf(html))
    .split(/\n|(?<=[.:!?]) /)
    .map((sentence) => sentence.trim().toLowerCase())
    .filter((sentence) => /[.!?]$/.test(sentence) && sentence.split(' ').length > 2);
  return sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index);
}

it('no sentence stands twice on a page', async () => {
  const sim = await startSim();
  for (const status of [400, 500, 302, null]) {
    const receiver = status && (await startReceiver([{ status, body: 'words of the receiver' }]));
    await paid(sim, { identifier: `order-${status}`, ...(receiver && { ipn_url: `${receiver.url}/ipn` }) });
    const { html } = await shownOf(sim, `order-${status}`);
    expect([status, repeatedIn(html)]).toEqual([status, []]);
    expect(html.match(/connection refused/gi)?.length ?? 0).toBeLessThanOrEqual(3);
  }
  sim.server.parts.faults.set({ route: 'ipn', status: 503 });
  for (const { path } of Object.values(PLACES))
    expect([path, repeatedIn(await pageOf(sim, path))]).toEqual([path, []]);
});

it('says that a restart emptied the request log', async () => {
  const dataDir = await temporaryFolder();
  const before = await startSim({ inMemory: false, dataDir });
  const id = idOf(await before.initiate(ORDER));
  await before.server.stop();
  const after = await startSim({ inMemory: false, dataDir });
  const gap = 'was logged before the emulator was restarted';
  expect(await pageOf(after, `/_sim/ui/payments/${id}`)).toContain(gap);
  expect(await pageOf(after, '/_sim/ui/requests')).toContain(
    'The request log is empty when the emulator starts',
  );
  expect(await pageOf(after, '/_sim/ui/requests/1')).toMatch(
    /since the emulator started, at [\d-]+ [\d:]+ UTC/,
  );
});

it('the fix of an accepted forgery is the whole check', async () => {
  const receiver = await startReceiver();
  const sim = await startSim();
  await paid(sim, { ipn_url: `${receiver.url}/ipn` });
  const tamper = requireTamperings('signature');
  await sim.server.parts.ipns.fire({ payment: 'order-1', to: `${receiver.url}/ipn`, tamper });
  const { html } = await shownOf(sim, 'order-1');
  for (const line of ['hash_hmac(', 'if (!hash_equals(', 'timingSafeEqual(', 'hmac.compare_digest('])
    expect(html).toContain(line);
});

const ANSWERS = [{}, { status: 400 }, { status: 500 }, { body: '{"ok":false}' }, 'drop'] as const;
type Act = {
  act: 'initiate' | 'reject' | 'approve' | 'cancel' | 'fail' | 'resend' | 'forge' | 'copy';
  at: number;
};

/** Does one step of a history to the payment with a number; a step that is not possible does nothing. */
async function perform({ act, at }: Act, number: number, sim: Sim, receiver: Receiver): Promise<void> {
  const { store, payments, ipns } = sim.server.parts;
  const all = [...store.state.payments.values()];
  const payment = all[at % Math.max(1, all.length)];
  const order = { ...ORDER, identifier: `order-${number}`, ipn_url: `${receiver.url}/ipn` };
  const last = payment && store.state.deliveriesOf(payment.id).at(-1);
  if (act === 'initiate') await sim.initiate(order, at % 2 ? 'live' : 'sandbox');
  else if (act === 'reject') {
    const body = new URLSearchParams({ ...order, public_key: sim.publicKey, amount: 'much' });
    await fetch(`${sim.url}/sandbox/payment/initiate`, { method: 'POST', body });
  } else if (act === 'resend') {
    if (last) await ipns.resend(last.id);
  } else if (act === 'copy') {
    if (last) await ipns.resend(last.id, `${receiver.url}/copy`);
  } else if (act === 'forge') {
    const tamper = requireTamperings('amount');
    if (last) await ipns.fire({ payment: payment.id, to: `${receiver.url}/ipn`, tamper });
  } else if (payment?.status === 'pending') {
    await payments.settle(payment.id, { outcome: act, by: 'control', awaitDelivery: true });
  }
}

interface Listed {
  id: string;
  status: string;
  identifier: string;
  verdict: { tone: string };
}

it('every number on the pages is the number of the API, after any history', async () => {
  const act = fc.constantFrom<Act['act'][]>(
    ...([
      'initiate',
      'initiate',
      'reject',
      'approve',
      'approve',
      'cancel',
      'fail',
      'resend',
      'forge',
      'copy',
    ] as const),
  );
  const history = fc.array(fc.record({ act, at: fc.nat(9) }), { minLength: 4, maxLength: 14 });
  const answers = fc.array(fc.constantFrom(...ANSWERS), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(history, answers, async (acts, given) => {
      const sim = await startSim({ ipnTimeout: '2s' });
      const receiver = await startReceiver([...given]);
      for (const [number, one] of acts.entries()) await perform(one, number, sim, receiver);
      const { body } = await ask<{ data: Listed[] }>(sim, 'GET', '/payments?limit=100');
      const { body: log } = await ask<{ data: { paymentId: string | null; method: string }[] }>(
        sim,
        'GET',
        '/requests',
      );
      const list = textOf(mainOf(await pageOf(sim, '/_sim'))).replace(/\s+/g, ' ');
      const rejected = acts.filter(({ act }) => act === 'reject').length;
      expect(
        log.data.filter(({ paymentId, method }) => paymentId === null && method === 'POST'),
      ).toHaveLength(rejected);
      if (rejected) expect(list).toContain(`${rejected} initiate request`);
      if (body.data.length === 0) return;
      expect(list).toContain(` ${body.data.length} all `);
      for (const status of PAYMENT_STATUSES)
        expect(list).toContain(` ${body.data.filter((one) => one.status === status).length} ${status} `);
      const attention = body.data
        .filter(({ verdict }) => verdict.tone === 'bad')
        .map((one) => one.identifier);
      let sent = 0;
      for (const { id, identifier } of body.data) {
        const { body: ipns } = await ask<{
          data: {
            signedWith?: string;
            tampered: string[];
            attempts: { responseStatus: number | null; failure: unknown; responseBody: string | null }[];
          }[];
        }>(sim, 'GET', `/ipns?payment=${id}&limit=100`);
        sent += ipns.data.length;
        const attempts = ipns.data.reduce((sum, one) => sum + one.attempts.length, 0);
        const { html, state, words = '' } = await shownOf(sim, identifier);
        expect(html.match(/ data-attempt="/g)?.length ?? 0).toBe(Math.min(20, attempts));
        const genuine = ipns.data.filter(({ tampered }) => tampered.length === 0);
        const last = genuine[0]?.attempts.at(-1);
        const isAccepted = last?.failure === null && !last.responseBody?.includes('false');
        const [, count, unit] = /, (\d+) (attempts|IPNs)/.exec(words) ?? [];
        if (unit === 'IPNs') expect(Number(count)).toBe(genuine.length);
        if (unit === 'attempts') expect(Number(count)).toBe(genuine[0]?.attempts.length);
        if (state === 'accepted' || state === 'rejected' || state === 'failed')
          expect([identifier, state === 'accepted']).toEqual([identifier, isAccepted]);
      }
      expect(list).toContain(` ${attention.length} Needs attention`);
      const requests = textOf(mainOf(await pageOf(sim, PLACES.requests.path))).replace(/\s+/g, ' ');
      expect(requests).toContain(` ${sent} IPN `);
      const tab = await pageOf(sim, '/_sim?status=needs-attention');
      const names = [...tab.matchAll(/<th scope="row"><a [^>]*>(.*?)<\/a>/g)].map(([, name]) => name);
      expect(names.toSorted()).toEqual(attention.toSorted());
    }),
    { numRuns: 6, seed: 46 },
  );
});

it('what audits made is left out of lists, unless it is asked for', async () => {
  const sim = await startSim();
  const id = idOf(await sim.initiate({ ...ORDER, identifier: 'of-the-audit' }));
  await sim.server.parts.payments.settle(id, { outcome: 'approve', by: 'audit', awaitDelivery: true });
  expect(textOf(mainOf(await pageOf(sim, '/_sim')))).toMatch(/No payments yet.*1 from audits, show/s);
  await paid(sim);
  const count = async (path: string) => (await ask<{ data: unknown[] }>(sim, 'GET', path)).body.data.length;
  expect([await count('/payments'), await count('/payments?audits=false')]).toEqual([2, 1]);
  expect([await count('/ipns'), await count('/ipns?audits=false')]).toEqual([2, 1]);
  for (const path of ['', '?status=needs-attention', '/ui/requests']) {
    expect([path, (await pageOf(sim, `/_sim${path}`)).includes('>of-the-audit<')]).toEqual([path, false]);
  }
  expect(await pageOf(sim, '/_sim')).toMatch(/1 from audits, <a [^>]*>show</);
  expect(await pageOf(sim, '/_sim?audits=show')).toContain('>of-the-audit<');
});
