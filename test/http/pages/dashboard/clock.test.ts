import { describe, expect, it } from 'vitest';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { ORDER, type Sim, startSim } from '../../../helpers/sim.ts';

const PAGE = '/_sim/ui/faults';
const CLOCK = `${PAGE}/clock`;

/** The scheduled rows as text, each with the time that its button sends. */
async function queue(sim: Sim): Promise<{ text: string; at: string }[]> {
  const rows = (await pageOf(sim, PAGE))
    .split('<section id="queue-list"')[1]
    ?.match(/<tr data-key.*?<\/tr>/gs);
  return (rows ?? []).map((row) => ({
    text: row
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
    at: /name="at" value="([^"]+)"/.exec(row)?.[1] ?? '',
  }));
}

/** A paused clock with a payment that expires, one that settles automatically and an IPN to retry. */
async function scheduled(): Promise<Sim> {
  const sim = await startSim({ ipnSchedule: ['1h', '4h'], paymentExpires: '2h', autoDelay: '30m' });
  await sim.server.parts.clock.move({ freeze: 'now' });
  for (const identifier of ['late', 'paid']) await sim.initiate({ ...ORDER, identifier });
  const auto = { ...ORDER, identifier: 'auto', customer_email: 'approve@gateway-sim.test' };
  await sim.initiate(auto);
  await sim.server.parts.payments.settle('paid', { outcome: 'approve', by: 'control', awaitDelivery: true });
  return sim;
}

describe('the queue of the clock', () => {
  it('lists what is scheduled, soonest first, with a link to each record', async () => {
    const sim = await scheduled();
    const rows = (await queue(sim)).map(({ text }) => text);
    // Jitter: a retry is up to 10 % early.
    const expected = [
      /^auto settles automatically: approve .* 30 min Run until here auto$/,
      /^paid IPN, attempt 2 .* (1 h|5\d min).* Run until here paid$/,
      /^late expires .* 2 h Run until here late$/,
    ];
    expect(rows).toEqual(expected.map((row) => expect.stringMatching(row)));
    const html = await pageOf(sim, PAGE);
    const { payments } = sim.server.parts;
    for (const name of ['paid', 'late'])
      expect(html).toContain(`<a href="/_sim/ui/payments/${payments.find(name)?.id}">${name}</a>`);
  });

  it('runs to the selected event, and no further', async () => {
    const sim = await scheduled();
    const [first] = (await queue(sim)).filter(({ text }) => text.startsWith('paid'));
    const answer = await postForm(sim, CLOCK, { move: 'until', at: first?.at ?? '' });
    expect([answer.status, answer.location]).toEqual([303, PAGE]);
    const { clock, ipns, payments } = sim.server.parts;
    expect(new Date(clock.read().now).toISOString()).toBe(first?.at);
    const ipn = ipns.of(payments.find('paid')?.id ?? '')[0];
    expect(ipn?.attemptCount).toBe(2);
    expect(payments.find('late')?.status).toBe('pending');
  });

  it('rejects an invalid time', async () => {
    const answer = await postForm(await startSim(), CLOCK, { move: 'until', at: 'soon' });
    expect([answer.status, answer.html.includes('at must be a time with a time zone')]).toEqual([422, true]);
  });

  it('shows at most fifty events, and says when nothing is scheduled', async () => {
    const sim = await startSim({ paymentExpires: '2h' });
    expect(await pageOf(sim, PAGE)).toContain('Nothing scheduled.');
    for (let number = 0; number < 51; number++) await sim.initiate({ ...ORDER, identifier: `n-${number}` });
    expect(await queue(sim)).toHaveLength(50);
    expect(await pageOf(sim, PAGE)).toContain('Only the first 50 are shown.');
  });

  it('shows how far the clock is ahead, and whether it is paused', async () => {
    const sim = await startSim();
    expect(await pageOf(sim, PAGE)).toMatch(/running\. Clock shows real time/);
    await postForm(sim, CLOCK, { move: 'freeze', freeze: 'now' });
    await postForm(sim, CLOCK, { move: 'advance', advance: '29h' });
    expect(await pageOf(sim, PAGE)).toMatch(/paused\. Clock is 1 day 5 h ahead/);
  });
});
