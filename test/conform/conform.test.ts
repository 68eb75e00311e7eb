import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { payOnCheckout } from '../../src/conform/checkout.ts';
import { compare } from '../../src/conform/expectation.ts';
import type { ManifestLine } from '../../src/conform/manifest.ts';
import type { ConformReport } from '../../src/conform/report.ts';
import { type Seen, Session } from '../../src/conform/session.ts';
import { PROFILE_NAMES } from '../../src/contract/profiles.ts';
import { DEPENDING, held, LINES, linesNamed } from '../helpers/conform.ts';
import { freePort } from '../helpers/port.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

/** The last response that was compared with each line, by its id. */
function watched(): Map<string, Seen> {
  const seen = new Map<string, Seen>();
  const { run } = Session.prototype;
  const spy = vi.spyOn(Session.prototype, 'run').mockImplementation(async function (this: Session, line) {
    const found = await run.call(this, line);
    seen.set(line.id, found);
    return found;
  });
  onTestFinished(() => spy.mockRestore());
  return seen;
}

/** Matches nothing, neither as an expected value nor as a pattern. */
const NEVER = '(?!)';

const namesOf = ({ ipns: [ipn] }: Seen) => [...new URLSearchParams(ipn?.body).keys()];

/** Variants of a line's expectations, each with one part changed so that the same response does not match. */
function* otherwise(expected: unknown, seen: Seen): Generator<[part: string, other: unknown]> {
  if (typeof expected === 'string') yield ['', `(?:${expected})${NEVER}`];
  if (typeof expected === 'number') yield ['', expected + 1];
  if (typeof expected === 'boolean') yield ['', !expected];
  if (expected === null) yield ['', NEVER];
  if (typeof expected !== 'object' || expected === null) return;
  for (const [name, part] of Object.entries(expected)) {
    const put = (other: unknown) =>
      Array.isArray(expected) ? expected.with(Number(name), other) : { ...expected, [name]: other };
    if (name === 'taken') yield [name, { names: [NEVER] }];
    else if (name === 'about') yield [name, { taken: true }];
    // Requires digits in a field that contains other text.
    else if (name === 'luhn') yield [name, put(['success'])];
    else if (name === 'lacks') yield [name, put([...Object.keys(seen.json ?? {}), ...namesOf(seen)])];
    else if (!WITHOUT_ANSWER.has(name))
      for (const [inner, other] of otherwise(part, seen)) yield [`${name}.${inner}`, put(other)];
  }
}

/** These parts stay unchanged: the answer of our receiver, and flags that can only be true. */
const WITHOUT_ANSWER = new Set(['answered', 'early', 'signed']);

/** The parts of expectations that a comparison with the same response would not miss. */
async function unnoticed({ unseen }: ConformReport, seen: Map<string, Seen>, secretKey: string) {
  const found: string[] = [];
  for (const { id, expect: expected } of LINES) {
    const last = seen.get(id);
    if (!last || unseen.some((one) => one.id === id)) continue;
    for (const [part, other] of otherwise(expected, last)) {
      const mismatches = compare(other as typeof expected, last, secretKey);
      if (!mismatches.length) found.push(`${id} ${part}`);
    }
    const unsigned = compare(expected, { ...last, early: 0 }, 'sec_of_another');
    if ((expected.ipn?.signed || expected.ipn?.early) && !unsigned.length) found.push(`${id} signed`);
  }
  return found;
}

describe('the emulator', () => {
  it.each(PROFILE_NAMES)('matches every line of the profile %s', async (profile) => {
    const lines = IS_RELEASE || profile === 'document' ? LINES : DEPENDING;
    const sim = await startSim({ profile });
    const seen = watched();
    const { report } = await held(sim, { profile }, { lines });
    if (lines === LINES) expect(await unnoticed(report, seen, sim.secretKey)).toEqual([]);
    expect(report.differ).toEqual([]);
    expect(new Set(report.unseen.map(({ why }) => why))).toEqual(
      new Set(lines === LINES ? ['applies only to clients'] : []),
    );
    expect(report.agree).toBeGreaterThan(lines.length / 3);
  });

  it('is distinguished from an emulator with another profile', async () => {
    const { report } = await held(await startSim({ profile: 'server' }), {}, { lines: DEPENDING });
    expect(ids(report.differ)).toEqual(
      expect.arrayContaining(['refusal-field-message-live', 'checkout-again-page', 'field-logo-missing']),
    );
  });

  it('matches the lines about rejections with another status', async () => {
    const sim = await startSim({ errorStatus: 'http' });
    const lines = LINES.filter(({ area }) => area === 'refusal');
    expect(ids((await held(sim, {}, { lines })).report.differ)).toContain('refusal-field-status');
    const { report } = await held(sim, { errorStatus: 'http' }, { lines });
    expect(report.differ).toEqual([]);
  });

  it('does not settle earlier payments', async () => {
    const sim = await startSim();
    await sim.initiate({ ...ORDER, identifier: 'not-ours' });
    await held(sim, {}, { lines: linesNamed('ipn-status', 'checkout-again-page', 'ipn-not-on-cancel') });
    const { data } = await sim.control<{ data: { status: string }[] }>('/payments?identifier=not-ours');
    expect(data).toMatchObject([{ status: 'pending' }]);
  });
});

it('values that are not strings are reported as differences', async () => {
  const odd = { toString: 1, valueOf: 1 };
  const body = JSON.stringify({ success: 'ok', url: odd, data: { card_number: odd } });
  const { url } = await startReceiver([{ body }]);
  const line = { ...linesNamed('initiate-url')[0], id: 'odd' } as ManifestLine;
  const lines = [{ ...line, expect: { matches: { url: '.' }, luhn: ['data.card_number'] } }];
  const { report } = await held({ url, publicKey: 'pub_x', secretKey: 'sec_x' }, {}, { lines });
  expect(report.differ).toMatchObject([{ got: expect.stringContaining('"toString"') }]);
});

it.each([
  ['forms', '<form>'.repeat(10_900)],
  ['beginnings of a form', '<form '.repeat(9_000)],
  ['beginnings of a field', `<form>${'<input '.repeat(9_000)}</form>`],
])('a page full of %s does not delay a run', async (_, body) => {
  const answer = { status: 200, headers: [], body };
  const target = { sandbox: { email: 'a', code: 'b' }, send: async () => answer };
  const { user } = process.cpuUsage();
  expect(await payOnCheckout(target as never, '/')).toBeUndefined();
  expect(process.cpuUsage().user - user).toBeLessThan(300_000);
});

it('no payment is left pending', async () => {
  const sim = await startSim();
  await held(
    sim,
    {},
    { lines: linesNamed('initiate-live', 'initiate-identifier-reused', 'checkout-email-then-code') },
  );
  const { data } = await sim.control<{ data: { status: string; identifier: string }[] }>('/payments');
  expect(data.length).toBeGreaterThan(4);
  // One of the payments only served to identify the target.
  expect(data.filter(({ status }) => status === 'pending')).toEqual([]);
  expect((await sim.control<{ data: unknown[] }>('/ipns')).data).toEqual([]);
});

it('at most one additional merchant is created', async () => {
  const sim = await startSim();
  const lines = linesNamed('card-list-of-another', 'card-read-of-another', 'card-list-page-two');
  for (let run = 0; run < 2; run++) {
    const { report } = await held(sim, {}, { lines });
    expect(report).toMatchObject({ differ: [], unseen: [] });
  }
  const { data } = await sim.control<{ data: { name: string }[] }>('/merchants');
  expect(data.map(({ name }) => name)).toEqual([expect.any(String), 'conform']);
});

it('no retry is left scheduled', async () => {
  const sim = await startSim({ ipnSchedule: ['10s'] });
  await held(sim, {}, { lines: linesNamed('ipn-not-retried', 'ipn-redirect-not-followed') });
  const { data } = await sim.control<{ data: { state: string }[] }>('/ipns');
  expect(data.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});

it('an emulator with a public URL is tested at its own address', async () => {
  const sim = await startSim({ publicUrl: 'https://pay.example.com/gateway' });
  const { report } = await held(
    sim,
    {},
    { lines: linesNamed('checkout-page', 'checkout-success-url-exact') },
  );
  expect(report).toMatchObject({ differ: [], unseen: [] });
});

/** An address of this machine that is not loopback, so that it counts as a foreign server. */
async function startElsewhere() {
  const port = await freePort();
  const url = `http://0.0.0.0:${port}`;
  return { ...(await startSim({ port, publicUrl: url })), url };
}

it('a remote target is tested neither in live mode nor with lines that need an emulator or a callback', async () => {
  const sim = await startElsewhere();
  const lines = linesNamed(
    ...['initiate-sandbox', 'initiate-live', 'card-create', 'checkout-page-live', 'ipn-status', 'route-root'],
    ...['checkout-page', 'checkout-success-url-exact', 'ipn-not-on-cancel', 'initiate-json'],
  );
  const began = performance.now();
  const { report } = await held(sim, {}, { lines });
  expect(report.differ).toEqual([]);
  // Pays on the checkout like a customer, without the control API.
  expect(report.agree).toBe(4);
  expect(Object.fromEntries(report.unseen.map(({ id, why }) => [id, why]))).toEqual({
    'initiate-live': 'live mode is not tested: use --live --live to test it',
    'card-create': 'live mode is not tested: use --live --live to test it',
    'checkout-page-live': 'live mode is not tested: use --live --live to test it',
    'ipn-status': 'no IPN can reach this machine: specify its public address with --ipn-url',
    'ipn-not-on-cancel': 'needs the control API of an emulator',
    'route-root': 'applies only to an emulator',
  });
  const asked = sim.server.parts.events.requests();
  expect(asked.length).toBeGreaterThan(8);
  expect(asked.filter(({ target }) => !target.startsWith('/sandbox/'))).toEqual([]);
  // At most five per second; timers may fire a little early.
  expect(performance.now() - began).toBeGreaterThan((asked.length - 1) * 200 * 0.95);
});

it('a remote target is tested in live mode only on request', async () => {
  const lines = linesNamed('initiate-live', 'card-create');
  const { report } = await held(await startElsewhere(), {}, { lines, live: true });
  expect(report).toMatchObject({ agree: 2, differ: [], unseen: [] });
});

it('a remote target sends its IPNs to a public address of this machine', async () => {
  const ipnPort = await freePort();
  const ipnUrl = `http://localhost:${ipnPort}/tunnel?shop=7`;
  const lines = linesNamed('ipn-status', 'signature');
  const { report } = await held(await startElsewhere(), {}, { lines, ipnUrl, ipnPort });
  expect(report).toMatchObject({ agree: 2, differ: [], unseen: [] });
});

it('a broken tunnel is not reported as a difference of a remote target', async () => {
  const [ipnPort, other] = [await freePort(), await freePort()];
  const more = { lines: linesNamed('ipn-status'), ipnUrl: `http://localhost:${other}/tunnel`, ipnPort };
  const { report } = await held(await startElsewhere(), {}, more);
  expect(report).toMatchObject({
    ...{ agree: 0, differ: [] },
    unseen: [
      { id: 'ipn-status', why: expect.stringMatching(/does not forward to --ipn-port.*connection refused/) },
    ],
  });
});
