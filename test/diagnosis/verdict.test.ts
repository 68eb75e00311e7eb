import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { type FullVerdict, verdictOnFault, verdictView } from '../../src/diagnosis/verdict.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import type { SettleCommand } from '../../src/usecases/payments.ts';
import { type Answer, type Received, startReceiver } from '../helpers/receiver.ts';
import { idOf, ORDER, type Sim, startSim } from '../helpers/sim.ts';

/** The signature that a receiver would compute. */
const signatureOf = (text: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', 'sec_sim_example_not_a_real_key').update(text).digest(encoding);

/** What a verdict adds if a genuine IPN was not accepted and will not be sent again. */
const UNPAID = "This order stays unpaid. The gateway won't send this IPN again.";
const THEN_RESEND = 'Then resend the IPN.';

type Script = Answer[] | ((request: Received, number: number) => Answer);

/** A verdict as a page and the API have it, whose heading is short. */
function withHeading(verdict: FullVerdict): FullVerdict {
  expect(verdict.headline.split(' ').length, verdict.headline).toBeLessThanOrEqual(11);
  return { ...verdict, ...verdictView(verdict) };
}

interface Setting {
  options?: StartOptions;
  order?: Record<string, string>;
  settle?: Partial<SettleCommand>;
  prepare?: (sim: Sim) => unknown;
}

async function settledWith(script: Script, { options, order, settle, prepare }: Setting = {}) {
  const receiver = await startReceiver(script);
  const sim = await startSim(options);
  prepare?.(sim);
  const id = idOf(await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn`, ...order }));
  const { ipns, payments } = sim.server.parts;
  const settled = await payments.settle(id, { outcome: 'approve', by: 'control', ...settle });
  const last = () => {
    if (!settled.delivery) throw new Error('no IPN was created');
    return ipns.require(settled.delivery.id);
  };
  const found = () => withHeading(ipns.verdict(last()));
  const ofPayment = () => withHeading(payments.verdict(payments.require(id)));
  return { sim, id, receiver, last, found, ofPayment };
}

const withFault = (rule: object): Setting => ({
  prepare: ({ server }) => server.parts.faults.set({ route: 'ipn', ...rule }),
});

/** Sends a forged IPN for a payment. */
async function forged(script: Script, tamper: 'amount' | 'signature' | 'status' | 'currency') {
  const { sim, id } = await settledWith(script);
  const [delivery] = await sim.server.parts.ipns.fire({ payment: id, tamper: requireTamperings(tamper) });
  if (!delivery) throw new Error('nothing was fired');
  const { parts } = sim.server;
  return withHeading(parts.ipns.verdict(delivery));
}

describe('a genuine IPN', () => {
  it('gets a good verdict if it was accepted', async () => {
    const { found } = await settledWith([{}]);
    expect(found()).toMatchObject({
      tone: 'good',
      cause: expect.stringMatching(/^Delivered: your handler returned 200 in /),
      action: null,
    });
  });

  it.each<[status: number, body: string, cause: RegExp, headers?: Record<string, string>]>([
    [302, '', /login page/, { Location: '/login?next=/ipn' }],
    [302, '', /redirected to \/authors/, { Location: '/authors' }],
    [302, '', /login page \(\/users\/sessions\/new\)/, { Location: '/users/sessions/new' }],
    [403, 'CSRF verification failed', /CSRF/],
    [404, '', /does not exist \(404\)/],
    [405, '', /does not accept POST/],
    [404, '<pre>Cannot POST /ipn</pre>', /does not accept POST \(404\)/],
    [501, "<p>Unsupported method ('POST').", /does not accept POST \(501\)/],
    [419, '', /CSRF/],
    [500, '<html><title>TypeError: x is undefined</title>', /x is undefined/],
    [500, 'Traceback (most recent call last):\n  File "a.py"\nKeyError: \'amount\'', /KeyError: 'amount'/],
    [
      500,
      '<title>KeyError\n at /ipn</title><textarea>Traceback (most recent call last):\n  File "/srv/shop/views.py", line 9, in ipn\n\nException Type: KeyError at /ipn\nException Value: &#x27;amount&#x27;\n</textarea>',
      /\(500\): KeyError: 'amount'\.$/,
    ],
    [
      500,
      'TypeError: Cannot read properties of null\n    at pay (/app/ipn.js:3:9)',
      /\(500\): TypeError: Cannot read properties of null, at pay \(\/app\/ipn\.js:3:9\)\.$/,
    ],
    [200, 'Fatal error: Uncaught TypeError in ipn.php:3', /its body contains an error/],
    [200, 'Invalid signature', /its body rejects the IPN: “Invalid signature”/],
    [200, '{"ok":false,"error":"bad signature"}', /rejects the IPN: “bad signature”/],
    [200, '<form action="/login"><input name="pw" type="password"></form>', /200 with a login page/],
    [200, '<p>There has been a critical error on this website.', /its body contains an error/],
    [422, "<h1>Can't verify CSRF token authenticity.</h1>", /expects a CSRF token \(422\)/],
    [
      400,
      '<meta name="csrf-token" content="x"><h1>The amount differs.</h1>',
      /\(400\): “The amount differs\.”$/,
    ],
    [
      500,
      '<!-- ErrorException: Undefined key "amount" in a.php -->#0 /app/x.php(2)',
      /: ErrorException: Undefined/,
    ],
    [500, '<h1>NoMethodError in PaymentsController#ipn</h1>', /\(500\): NoMethodError in Pay/],
    [400, '{"message":"order is paid"}', /^Your handler rejected a genuine IPN \(400\): “order is paid”\.$/],
    [401, 'Invalid signature', /^Your handler rejected a genuine IPN \(401\): “Invalid signature”\.$/],
    [403, '<html><body></body></html>', /\(403\): “<html><body><\/body><\/html>”\.$/],
    [400, ' ', /^Your handler rejected a genuine IPN \(400\) without a reason\.$/],
    [409, '["The amount differs."]', /^Your handler returned 409: “The amount differs\.”$/],
  ])(
    'gets a bad verdict with the reason and what it means if it was answered %i %s',
    async (status, body, expected, headers = {}) => {
      const { found } = await settledWith([{ status, headers, body }]);
      const { tone, cause, fix } = found();
      expect(tone).toBe('bad');
      expect(cause.split(` ${UNPAID}`)).toEqual([expect.stringMatching(expected), '']);
      expect(fix).toMatch(new RegExp(`\\. ${THEN_RESEND}$`));
    },
  );

  it.each([
    ['shows why', '{"detail":[{"loc":["body","data"],"msg":"Field required"}]}', /data\[amount\]/, undefined],
    [
      'is about the order',
      'order-1 has another amount',
      /: probably the comparison of the amount\. Compare data\[amount\]/,
      true,
    ],
    ['is about the signature', 'wrong signature', /^Find the check that fails/, true],
  ])('gets a fix by a reason that %s', async (_, body, fix, unexplained) => {
    const { found } = await settledWith([{ status: 422, body }]);
    expect(found()).toMatchObject({ fix: expect.stringMatching(fix) });
    expect(found().unexplained).toBe(unexplained);
  });

  it('that is retried gets another fix, and says what it means only after the last retry', async () => {
    const setting = { options: { ipnSchedule: ['1h'] } };
    const { sim, found } = await settledWith([{ status: 500 }], setting);
    expect(found()).toMatchObject({
      tone: 'bad',
      cause: 'Your handler returned 500 (expected 2xx).',
      fix: 'Find the error in the log of your shop. The emulator retries automatically.',
    });
    await sim.server.parts.clock.move({ advance: '1h' });
    expect(found()).toMatchObject({
      cause: `Your handler returned 500 (expected 2xx). ${UNPAID}`,
      fix: `Find the error in the log of your shop. ${THEN_RESEND}`,
    });
  });

  it('of a canceled payment says nothing about an unpaid order', async () => {
    const setting = { options: { ipnOn: ['canceled'] }, settle: { outcome: 'cancel' } } as const;
    const { found } = await settledWith([{ status: 500 }], setting);
    expect(found()).toMatchObject({
      cause: 'Your handler returned 500 (expected 2xx).',
      fix: `Find the error in the log of your shop. ${THEN_RESEND}`,
    });
  });

  it.each<[what: string, script: Script, outcome: RegExp | undefined]>([
    ['of a payment that was made up', [{}, 'drop'], undefined],
    [
      'of an order that is paid already',
      [{}, 'drop'],
      /^The order should be paid already\. Only this copy failed\.$/,
    ],
    ['of a payment that has not succeeded', ['drop'], undefined],
    ['of a paid order whose IPN was not accepted', ['drop'], /^This order stays unpaid\./],
  ])('sent by hand, %s, says only what is known of an order', async (what, script, outcome) => {
    const settle = what.includes('not succeeded') ? ({ outcome: 'cancel' } as const) : {};
    const { sim, receiver } = await settledWith(script, { settle });
    const { ipns } = sim.server.parts;
    const request = what.includes('made up') ? { to: receiver.url } : { payment: 'order-1' };
    const [first] = await ipns.fire(request);
    // The one that was made up is accepted by the second request only.
    const fired = what.includes('made up') && first ? await ipns.resend(first.id) : first;
    expect(fired && ipns.verdict(fired).outcome).toEqual(outcome && expect.stringMatching(outcome));
  });

  it('that was blocked is not one that was not accepted', async () => {
    const { found } = await settledWith([], { order: { ipn_url: 'http://203.0.113.9/ipn' } });
    expect(found()).toMatchObject({
      tone: 'bad',
      cause: expect.stringMatching(/^Not sent: [^.]*203.0.113.9/),
    });
    expect(found().cause).not.toContain('unpaid');
  });

  it('gets a verdict that names the mistake if the response shows the computed signature', async () => {
    const { found } = await settledWith((request) => {
      const form = new URLSearchParams(request.body);
      const text = `${Number(form.get('data[amount]'))}${form.get('identifier')}`;
      return { status: 400, body: `bad signature: expected ${signatureOf(text).toUpperCase()}` };
    });
    const { headline, cause, code, tone } = found();
    expect(headline).toBe('You signed 49.9. Sign the amount exactly as it arrived: 49.90.');
    expect(tone).toBe('bad');
    expect(cause).toBe(`${headline} ${UNPAID}`);
    expect(Object.keys(code ?? {})).toEqual(['PHP', 'Node', 'Python']);
  });

  it.each([
    '{"ok":true,"invalid":false,"errors":[],"rejected":0}',
    '<style>input:invalid{color:red}</style><p>Thank you</p>',
    '<div class="invalid-feedback" data-csrf="denied"></div><p>Thank you</p>',
    '{"status":"ok"}',
  ])('gets a good verdict if it was answered 200 %s', async (body) => {
    const { found } = await settledWith([{ body }]);
    expect(found()).toMatchObject({ tone: 'good' });
  });

  it.each([
    '<b>Warning</b>: Undefined array key "amount" in <b>/app/ipn.php</b> on line <b>9</b>OK',
    'PHP Notice: Undefined index: data in /app/ipn.php on line 3',
  ])('gets a warning if it was answered 200 with a PHP warning: %s', async (body) => {
    const { found } = await settledWith([{ body }]);
    expect(found()).toMatchObject({
      tone: 'warning',
      cause: expect.stringMatching(
        /^Your handler returned 200, but PHP printed a warning: .*Undefined .* on line \d\.$/,
      ),
    });
  });

  it('for a failed payment gets a good verdict if it was answered 200', async () => {
    const { ofPayment } = await settledWith([{}], {
      options: { ipnOn: ['failed'] },
      settle: { outcome: 'fail' },
    });
    expect(ofPayment().tone).toBe('good');
  });

  it('gets a verdict with the rule and the due time if a fault rule delays it', async () => {
    const { found, sim, last } = await settledWith([{}], withFault({ delay: '10m' }));
    const due = last().nextAttemptAt?.slice(0, 19).replace('T', ' ');
    expect(found()).toMatchObject({
      tone: 'waiting',
      cause: `Delayed 10 min by your fault rule. Due at ${due} UTC.`,
      action: 'faults',
    });
    await sim.server.parts.clock.move({ advance: '10m' });
    await expect.poll(() => found().tone).toBe('good');
  });

  it('whose URL has the wrong scheme gets the right one as the fix', async () => {
    const receiver = await startReceiver([{}]);
    const ipn_url = `${receiver.url}/ipn`;
    const { found, last, ofPayment, sim } = await settledWith([], {
      order: { ipn_url: ipn_url.replace('http:', 'https:') },
    });
    expect(found()).toMatchObject({
      fix: `Correct the scheme of ipn_url. ${THEN_RESEND}`,
      to: ipn_url,
    });
    await sim.server.parts.ipns.resend(last().id, ipn_url);
    expect(ofPayment().tone).toBe('good');
  });

  it('whose receiver disconnected does not get the fix to start the receiver', async () => {
    const { found } = await settledWith(['drop']);
    expect(found().fix).toMatch(/^Check the log of your shop/);
  });

  it('that waits for its response is shown as waiting', async () => {
    const { ofPayment, receiver } = await settledWith(['hang'], {
      settle: { delivery: 'redirect-then-ipn' },
    });
    await receiver.request(1);
    expect(ofPayment()).toMatchObject({
      tone: 'waiting',
      cause: 'Waiting up to 10 s for your handler to respond.',
    });
  });

  it.each([
    ['in lower case', (text: string) => text.toLowerCase(), /the right text in the wrong way .*lower case/],
    [
      'in base64 with slashes as PHP writes them in JSON',
      (text: string) => Buffer.from(text, 'hex').toString('base64').replaceAll('/', '\\/'),
      /the right text in the wrong way .*base64/,
    ],
    [
      'in URL-safe base64',
      (text: string) => Buffer.from(text, 'hex').toString('base64url'),
      /the right text in the wrong way .*base64/,
    ],
  ])('whose response shows the right signature %s is explained', async (_, write, cause) => {
    const { found } = await settledWith(({ body }) => {
      const form = new URLSearchParams(body);
      return { status: 400, body: `{"computed":"${write(form.get('signature') ?? '')}"}` };
    });
    expect(found()).toMatchObject({ cause: expect.stringMatching(cause), signed: null });
  });

  it.each([
    [405, ''],
    [404, 'Cannot POST /ipn'],
    [419, ''],
    [501, ''],
  ])('names the visit that the shop may wait for if it takes no POST: %i %s', async (status, body) => {
    const { found } = await settledWith([{ status, body }]);
    expect(found().fix).toContain('open success_url, or settle with pay --approve --visit.');
  });

  it('as JSON gets code for JSON in every language, even if the response contains base64', async () => {
    const { found } = await settledWith(
      ({ body }) => {
        const { data, identifier } = JSON.parse(body);
        const computed = signatureOf(Number(data.amount) + identifier, 'base64');
        return { status: 400, body: JSON.stringify({ computed }) };
      },
      { options: { ipnFormat: 'json' } },
    );
    const of = found();
    expect(of.signed).toEqual({ found: '49.9order-1', amount: '49.90', identifier: 'order-1' });
    expect(of.code?.PHP).toMatch(
      /^\$body = json_decode\(.*\$body\['data'\]\['amount'\] \. \$body\['identifier'\]/,
    );
    expect(of.code?.Python).toContain("body['data']['amount'] + body['identifier']");
  });

  it('gets the fix to check the secret key if the receiver signs with another one', async () => {
    const computed = createHmac('sha256', 'sec_of_somebody_else').update('49.90order-1').digest('hex');
    const { found } = await settledWith([{ status: 400, body: `expected ${computed}` }]);
    expect(found().fix).toContain(
      `The response shows an unknown signature (${computed.slice(0, 8)}…): check that your`,
    );
    const echo = await settledWith(({ body }) => {
      return { status: 400, body: `no: ${new URLSearchParams(body).get('signature')}` };
    });
    expect(echo.found().fix).not.toContain('unknown signature');
  });

  it('gets a bad verdict if a receiver that signed another text accepted it', async () => {
    const { found } = await settledWith(({ body }) => {
      const form = new URLSearchParams(body);
      const text = `${Number(form.get('data[amount]'))}${form.get('identifier')}`;
      return { body: `{"received":true,"computed":"${signatureOf(text)}"}` };
    });
    expect(found()).toMatchObject({ tone: 'bad', signed: { found: '49.9order-1' } });
  });

  it('keeps its verdict under a harmless fault rule, which the verdict names', async () => {
    const { found } = await settledWith([{}], withFault({ duplicate: true, times: 1 }));
    expect(found()).toMatchObject({
      tone: 'warning',
      cause:
        'Your handler accepted the same IPN twice. Your fault rule: sent twice. A copy must change nothing.',
      fix: 'Check that your shop fulfilled the order only once.',
    });
  });

  it('gets a bad verdict if it was accepted with a corrupted signature', async () => {
    const { found } = await settledWith([{}], withFault({ corruptSignature: true }));
    expect(found()).toMatchObject({
      tone: 'bad',
      forgeryAccepted: true,
      cause:
        'Forged IPN accepted: its signature was corrupted by your fault rule. Your handler does not check the signature.',
    });
  });

  it('to a host that does not exist gets no advice to allow it', async () => {
    const order = { ipn_url: 'http://no-such-host.invalid/ipn' };
    const { ofPayment, sim, id } = await settledWith([], { order });
    const { warnings } = sim.server.parts.payments.require(id);
    expect(ofPayment().headline).toBe('The host of this address does not exist.');
    expect(JSON.stringify([ofPayment(), warnings])).not.toContain('--allow-ipn-host');
  });

  it('that was signed again after a key replacement is not blamed on a fault rule', async () => {
    const { sim, last } = await settledWith([{ status: 400 }, {}]);
    const { parts } = sim.server;
    await parts.merchants.replaceKeys(parts.merchants.default.id);
    await parts.ipns.resend(last().id);
    const delivery = last();
    const [first] = parts.store.state.attemptsOf(delivery.id);
    expect(first?.requestBody).not.toBe(delivery.body);
    expect(first && verdictOnFault(delivery, first)).toBe(undefined);
  });

  it('gets a verdict that blames only the fault rule that changed or dropped it', async () => {
    const corrupt = await settledWith([{ status: 400 }], withFault({ corruptSignature: true }));
    expect(corrupt.found()).toMatchObject({
      tone: 'waiting',
      action: 'faults',
      cause: 'Your fault rule: signature corrupted. Your handler returned 400.',
      fix: 'When the rule ends or is cleared, resend the IPN.',
    });
    const cut = await settledWith([{}], withFault({ corruptSignature: true, truncate: true }));
    expect(cut.found()).toMatchObject({ tone: 'waiting', headline: 'Your fault rule changed the IPN.' });
    const unsent = await settledWith([{}], withFault({ corruptSignature: true, drop: true }));
    expect(unsent.found()).toMatchObject({
      tone: 'waiting',
      headline: 'Your fault rule dropped it. The IPN never reached your shop.',
    });
    const lost = await settledWith([{}], withFault({ drop: true }));
    expect(lost.found()).toMatchObject({
      tone: 'waiting',
      cause: 'Your fault rule dropped it. The IPN never reached your shop.',
    });
  });
});

describe('a forged IPN', () => {
  it.each([
    ['amount', 'Forged IPN accepted: amount 49.90 → 949.90. Your handler does not check the signature.'],
    ['signature', 'Forged IPN accepted: signature. Your handler does not check the signature.'],
    ['status', /: status success → failed\. Its signature is valid: status and/],
    ['currency', /currency USD → GNF\. Its signature is valid: status and/],
  ] as const)('gets a bad verdict if it was accepted: %s', async (tamper, cause) => {
    expect(await forged([{}], tamper)).toMatchObject({
      tone: 'bad',
      forgeryAccepted: true,
      cause: typeof cause === 'string' ? cause : expect.stringMatching(cause),
    });
  });

  it('gets a good verdict if it was rejected by status or in words', async () => {
    expect(await forged([{}, { status: 400 }], 'amount')).toMatchObject({
      tone: 'good',
      cause: expect.stringMatching(/a forged IPN, as expected: amount .*, answered with 400\.$/),
    });
    expect(await forged([{}, { body: '{"ok":false}' }], 'amount')).toMatchObject({
      tone: 'good',
      fix: expect.stringContaining('4xx'),
    });
  });

  it('that was accepted stays the verdict on its payment, whatever genuine one comes later', async () => {
    const { sim, id, ofPayment } = await settledWith([{}, {}, {}, { status: 400 }]);
    const { ipns } = sim.server.parts;
    const [copy] = await ipns.fire({ payment: id, tamper: requireTamperings('amount') });
    await ipns.fire({ payment: id });
    expect(ofPayment().forgeryAccepted).toBe(true);
    await ipns.resend(copy?.id ?? '');
    expect(ofPayment().forgeryAccepted).toBeUndefined();
  });

  it('that the receiver did not answer proves nothing', async () => {
    expect(await forged([{}, 'drop'], 'amount')).toMatchObject({ tone: 'waiting' });
  });

  it.each([
    [500, 'boom'],
    [405, ''],
    [302, ''],
    [200, 'Fatal error: Uncaught TypeError in ipn.php:3'],
  ])('that is answered %i "%s" also proves nothing', async (status, body) => {
    const cause = expect.stringMatching(/^This forged IPN \(.*\) proved nothing\./);
    expect(await forged([{}, { status, body }], 'amount')).toMatchObject({ tone: 'waiting', cause });
  });

  it.each([
    ['bad', '<style>input:invalid{color:red}</style><p>Thank you</p>'],
    ['good', '{"success":false,"message":"the signature does not match"}'],
  ])('gets a %s verdict for the response %s', async (tone, body) => {
    expect(await forged([{}, { body }], 'amount')).toMatchObject({ tone });
  });

  it('has a verdict for each attempt, and does not hide the verdict on a genuine IPN', async () => {
    const { sim, id, ofPayment } = await settledWith([{ status: 400 }, {}, { status: 400 }]);
    const { parts } = sim.server;
    const [fired] = await parts.ipns.fire({ payment: id, tamper: requireTamperings('amount') });
    if (!fired) throw new Error('nothing was fired');
    await parts.ipns.resend(fired.id);
    const delivery = parts.ipns.require(fired.id);
    const attempts = parts.store.state.attemptsOf(fired.id);
    expect(attempts.map((attempt) => parts.ipns.verdictOnAttempt(delivery, attempt).tone)).toEqual([
      'bad',
      'good',
    ]);
    expect(ofPayment()).toMatchObject({
      tone: 'bad',
      cause: `Your handler rejected a genuine IPN (400) without a reason. ${UNPAID}`,
    });
  });
});

describe('a payment without an IPN', () => {
  const verdictAfter = async (
    outcome?: 'approve' | 'fail' | 'cancel' | 'expire',
    delivery?: 'redirect-only',
  ) => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { payments } = sim.server.parts;
    if (outcome) await payments.settle('order-1', { outcome, by: 'control', delivery });
    const { tone, cause, fix } = withHeading(payments.verdict(payments.require('order-1')));
    return { tone, cause, fix };
  };

  it('waits while it is pending', async () => {
    const verdict = { tone: 'waiting', cause: 'The customer has not paid yet.', fix: null };
    expect(await verdictAfter()).toEqual(verdict);
  });

  it.each([
    ['fail', 'failed', 'You let this payment fail.'],
    ['cancel', 'canceled', 'You canceled this payment.'],
    ['expire', 'expired', 'You let this payment expire.'],
  ] as const)(
    'is neutral, and says who settled it and why no IPN is due: %s',
    async (outcome, status, who) => {
      expect(await verdictAfter(outcome)).toEqual({
        tone: 'waiting',
        cause: `${who} IPNs are sent only for successful payments.`,
        fix: `To send an IPN anyway, start with --ipn-on ${status}.`,
      });
    },
  );

  it('gets a warning if it was settled with a delivery that sends none', async () => {
    expect(await verdictAfter('approve', 'redirect-only')).toEqual({
      tone: 'warning',
      cause: 'Paid, but no IPN was sent. The delivery redirect-only sends none.',
      fix: expect.stringMatching(/^Send it \(ipn fire --payment pay_\w+\),/),
    });
  });
});
