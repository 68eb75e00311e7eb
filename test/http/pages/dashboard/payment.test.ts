import { beforeEach, describe, expect, it } from 'vitest';
import { checkoutUrlOf } from '../../../../src/service/names.ts';
import { payWithMistakes } from '../../../helpers/busy.ts';
import { postForm } from '../../../helpers/forms.ts';
import { type Receiver, startReceiver } from '../../../helpers/receiver.ts';
import { enter, ORDER, type Sim, startSim } from '../../../helpers/sim.ts';

let sim: Sim;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver([{ status: 500, body: 'no database' }, { body: 'thanks' }]);
  sim = await startSim({ ipnSchedule: ['8m'] });
});

/** The form that advances the clock to an attempt. */
function runForm(html: string) {
  const [, path = '', inputs = ''] = /action="([^"]*\/run)"[^>]*>(.*?)<button/s.exec(html) ?? [];
  const named = inputs.matchAll(/name="([^"]*)" value="([^"]*)"/g);
  const fields = Object.fromEntries(Array.from(named, ([, name, value]) => [name, value]));
  return { path, fields, ipn: fields['ipn'] ?? '' };
}

const paid = (changes: Record<string, string> = {}) =>
  payWithMistakes(sim, { ipn_url: `${receiver.url}/ipn`, ...changes });

const paymentId = () => sim.server.parts.payments.require('order-1').id;
const ipnOf = (id: string) => sim.server.parts.store.state.deliveriesOf(id)[0]?.id ?? '';
const pageOf = async (id: string) => (await fetch(`${sim.url}/_sim/ui/payments/${id}`)).text();

/** The HTML of each attempt and step on a page, by id. */
function stepsIn(html: string): Map<string, string> {
  const parts = html.split(/<li(?=[> ])/).filter((part) => part.includes(' id="step-'));
  return new Map(parts.map((part) => [/ id="(step-[^"]*)"/.exec(part)?.[1] ?? '', part]));
}

describe.each([false, true])("a payment's page (paused clock: %s)", (paused) => {
  beforeEach(async () => {
    if (paused) await sim.server.parts.clock.move({ freeze: 'now' });
  });

  it('has the request, response and curl command of every step, each with its own link', async () => {
    const id = await paid();
    const steps = stepsIn(await pageOf(id));
    const ipn = ipnOf(id);
    expect([...steps.keys()]).toEqual([
      'step-initiated-1',
      'step-opened-1',
      'step-email-refused-1',
      'step-email-entered-1',
      'step-code-refused-1',
      'step-settled-1',
      `step-${ipn}-1`,
      'step-redirected-1',
      `step-${ipn}-2`,
    ]);
    const who = [...steps.values()].map((step) => /class="who">([^<]*)</.exec(step)?.[1]);
    expect(who).toEqual(['Your shop', ...Array(5).fill('Customer'), ...Array(3).fill('Gateway')]);
    const expectIn = (step: string, ...texts: string[]) => {
      for (const text of texts) expect(steps.get(step)).toContain(text);
    };
    expectIn(
      'step-initiated-1',
      'POST /sandbox/payment/initiate',
      'identifier = order-1',
      '&quot;success&quot;: &quot;ok&quot;',
      '<code id="step-initiated-1-curl-text">curl',
    );
    expectIn('step-opened-1', 'GET /sandbox/initiate/payment/checkout?payment_id=pay_', '>200<', '>curl');
    expectIn(
      'step-email-refused-1',
      'email=nobody%40shop.test',
      'nobody@shop.test (the sandbox accepts',
      '>422<',
      '>curl',
    );
    expectIn('step-email-entered-1', 'email=test_mode%40mail.com', '>curl');
    expectIn('step-code-refused-1', 'code=111111', '111111 (wrong code)', '>422<', '>curl');
    expectIn('step-settled-1', 'code=222666', '303', '>curl');
    expectIn(`step-${ipn}-1`, 'data[amount] = 49.90', 'no database', '>curl');
    expect(steps.get(`step-${ipn}-1`)).toMatch(/data-attempt="1".*<h3>Response<.*<h3>Request</s);
    expectIn('step-redirected-1', ORDER['success_url'] ?? '', 'href="#step-settled-1"');
    expectIn(`step-${ipn}-1`, 'Your shop: failed (500) “no database”');
    expectIn(`step-${ipn}-2`, 'IPN, attempt 2<', 'Due <time');
    expect(steps.get('step-redirected-1')).not.toContain('code=222666');
  });
});

describe("a payment's page", () => {
  it.each([
    ['pending', undefined, {}, 'not paid yet', 'no IPN yet', 'waiting'],
    ['accepted', 'approve', {}, 'paid', 'accepted', 'good'],
    ['broken', 'approve', { status: 500 }, 'paid', 'failed (500), retry scheduled', 'bad'],
    ['denied', 'approve', { body: '{"ok":false}' }, 'paid', 'rejected (200, in its body)', 'bad'],
    ['canceled', 'cancel', {}, 'canceled', 'no IPN sent', 'waiting'],
    ['failed', 'fail', {}, 'payment failed', 'no IPN sent', 'waiting'],
    ['expired', 'expire', {}, 'did not pay in time', 'no IPN sent', 'waiting'],
  ] as const)('shows the state at a glance: %s', async (_, outcome, answer, customer, shop, tone) => {
    receiver = await startReceiver([answer]);
    await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
    const { payments } = sim.server.parts;
    const { id } = payments.require('order-1');
    if (outcome) await payments.settle(id, { outcome, by: 'control', awaitDelivery: true });
    const html = await pageOf(id);
    expect(html).toMatch(new RegExp(`data-pill="customer">Customer: ${customer}</span>`));
    expect(html).toMatch(
      new RegExp(`data-pill="shop" data-state="[\\w-]+">Your shop: ${shop.replace(/[()]/g, '\\$&')}</span>`),
    );
    expect(html).toMatch(new RegExp(`data-verdict="${tone}".*<h2>[^<]+</h2>`, 's'));
  });

  it('links to the newer and the older payment', async () => {
    const ids: string[] = [];
    for (const number of [1, 2, 3]) {
      const { payments } = sim.server.parts;
      await sim.initiate({ ...ORDER, identifier: `order-${number}` });
      ids.push(payments.require(`order-${number}`).id);
    }
    const linksOf = async (id = '') => {
      const html = await pageOf(id);
      return ['prev', 'next'].map((rel) => new RegExp(`payments/([^"]*)" rel="${rel}"`).exec(html)?.[1]);
    };
    expect(await Promise.all(ids.map(linksOf))).toEqual([
      [ids[1], undefined],
      [ids[2], ids[0]],
      [undefined, ids[1]],
    ]);
  });

  it('sends the IPN of a payment that was settled without one', async () => {
    receiver = await startReceiver();
    await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
    const settle = { outcome: 'approve', by: 'control', delivery: 'redirect-only' } as const;
    const { payment } = await sim.server.parts.payments.settle('order-1', settle);
    const html = await pageOf(payment.id);
    expect(html).toContain('<dt>Where</dt><dd>How it was settled, not your handler</dd>');
    const [, path = ''] = /action="([^"]*)"[^>]*>(?:(?!<\/form>).)*>Send the IPN</s.exec(html) ?? [];
    expect((await postForm(sim, path, {})).location).toBe(`/_sim/ui/payments/${payment.id}`);
    expect(await pageOf(payment.id)).toContain('Your shop: accepted</span>');
    expect(receiver.requests).toHaveLength(1);
  });

  it('shows the date once, then offsets', async () => {
    const html = await pageOf(await paid());
    const story = html.slice(html.indexOf('id="story"'), html.indexOf('id="send"'));
    expect(story.match(/>\d{4}-\d\d-\d\d [\d:]+<\/time>/g)).toHaveLength(1);
    expect(story).toMatch(/>\+0 s<.*>\+[\d.]+ m?s</s);
  });

  it('says why a step has no request', async () => {
    const id = await paid();
    sim.server.parts.events.forget('a test');
    const steps = stepsIn(await pageOf(id));
    for (const step of ['step-initiated-1', 'step-code-refused-1'])
      expect(steps.get(step)).toContain('The request log no longer has its request');
    expect(steps.get('step-code-refused-1')).toContain('111111');
  });

  it('also shows requests that changed nothing', async () => {
    const id = await paid();
    await fetch(checkoutUrlOf({ id, mode: 'sandbox' }, sim.url));
    const [, closed] = [...stepsIn(await pageOf(id))].find(([name]) => name.startsWith('step-request')) ?? [];
    expect(closed).toMatch(/GET \/sandbox\/initiate\/payment\/checkout<.*>409</s);
  });

  it('shows how often the checkout was opened, not counting redirects from a form', async () => {
    const checkout = await sim.initiate(ORDER);
    for (const _ of [1, 2, 3]) await fetch(checkout);
    const body = new URLSearchParams({ email: 'test_mode@mail.com' });
    await fetch(checkout.replace('/checkout?', '/checkout/email?'), { method: 'POST', body });
    const steps = stepsIn(await pageOf(paymentId()));
    expect([...steps.keys()]).toEqual(['step-initiated-1', 'step-opened-1', 'step-email-entered-1']);
    expect(steps.get('step-opened-1')).toContain('shown 3 times');
  });

  it('shows the code that was sent, with its request', async () => {
    const checkout = await sim.initiate({ ...ORDER }, 'live');
    await enter(checkout, 'email', { email: 'wallet@example.com' });
    const id = paymentId();
    const [message] = sim.server.parts.store.state.messagesOf(id);
    const sent = stepsIn(await pageOf(id)).get('step-code-sent-1');
    expect(sent).toContain(`>${message?.code}</code>`);
    expect(sent).toContain('href="#step-email-entered-1"');
  });

  it('warns of a redirect that came before the IPN', async () => {
    const warning = 'Before the IPN: your success page must not expect a paid order yet.';
    expect(await pageOf(await paid())).not.toContain(warning);
    sim = await startSim({ delivery: 'redirect-then-ipn' });
    const { clock } = sim.server.parts;
    await clock.move({ freeze: 'now' });
    const id = await paid();
    await clock.move({ advance: '1s' });
    expect(stepsIn(await pageOf(id)).get('step-redirected-1')).toContain(warning);
  });

  it('can advance a paused clock to a scheduled attempt', async () => {
    const id = await paid();
    expect(await pageOf(id)).not.toContain('Run until this attempt');
    await sim.server.parts.clock.move({ freeze: 'now' });
    const html = await pageOf(id);
    const { path, fields, ipn } = runForm(html);
    expect(html).toContain('Run until this attempt');
    const answer = await postForm(sim, path, fields);
    expect(answer.location).toBe(`/_sim/ui/payments/${id}#step-${ipn}-2`);
    expect(receiver.requests).toHaveLength(2);
    const after = stepsIn(await pageOf(id)).get(`step-${ipn}-2`);
    expect(after).toMatch(/\+[78] min.*IPN, attempt 2<.*Retried by the emulator\. .*>200\nthanks</s);
    expect(sim.server.parts.clock.read().frozen).toBe(true);
  });

  it('runs no further attempt when the button is clicked again in another tab', async () => {
    sim = await startSim({ ipnSchedule: ['8m', '1h'] });
    receiver = await startReceiver([{ status: 500 }]);
    const id = await paid();
    await sim.server.parts.clock.move({ freeze: 'now' });
    const { path, fields, ipn } = runForm(await pageOf(id));
    for (let press = 0; press < 2; press++) {
      const answer = await postForm(sim, path, fields);
      expect(answer.location).toBe(`/_sim/ui/payments/${id}#step-${ipn}-2`);
    }
    expect(receiver.requests).toHaveLength(2);
  });

  it('explains a blocked IPN', async () => {
    await sim.initiate({ ...ORDER, ipn_url: 'http://93.184.216.34/ipn' });
    const id = paymentId();
    await sim.server.parts.payments.settle(id, { outcome: 'approve', by: 'control' });
    const ipn = ipnOf(id);
    const step = stepsIn(await pageOf(id)).get(`step-${ipn}-1`);
    expect(step).toContain('IPN, attempt 1<');
    expect(await pageOf(id)).toMatch(/data-verdict="bad".*--allow-ipn-host.*Then resend the IPN/s);
  });

  it('distinguishes several IPNs', async () => {
    const id = await paid();
    await sim.server.parts.ipns.fire({ payment: id });
    const steps = stepsIn(await pageOf(id));
    for (const { id: ipn } of sim.server.parts.store.state.deliveriesOf(id)) {
      expect(steps.get(`step-${ipn}-1`)).toContain(`IPN <code>${ipn}</code>`);
    }
  });

  it('stays small with very many attempts, and keeps the first steps', async () => {
    const id = await paid();
    const ipn = ipnOf(id);
    for (let times = 0; times < 120; times++) await sim.server.parts.ipns.resend(ipn);
    const html = await pageOf(id);
    const steps = stepsIn(html);
    expect(steps.has('step-initiated-1')).toBe(true);
    expect(steps.has(`step-${ipn}-121`)).toBe(true);
    expect(steps.has(`step-${ipn}-101`)).toBe(false);
    // Of 128 rows, 40 are shown.
    expect(html).toContain('And 88 more: ');
    expect(html.length).toBeLessThan(250_000);
  });
});
