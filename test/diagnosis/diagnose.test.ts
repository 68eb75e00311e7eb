import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../src/contract/diagnosis.ts';
import { isSignatureMistake } from '../../src/diagnosis/mistakes.ts';
import { type Answer, type Received, startReceiver } from '../helpers/receiver.ts';
import { ask, ORDER, paid, type Sim, startSim } from '../helpers/sim.ts';

const KEY = 'sec_sim_example_not_a_real_key';
const hmac = (text: string, key = KEY) => createHmac('sha256', key).update(text).digest('hex').toUpperCase();
const hash = (text: string) => createHash('sha256').update(text).digest('hex').toUpperCase();

/** The values of an IPN that code signs, as a form has them. */
interface Form {
  amount: string;
  identifier: string;
  status: string;
  currency: string;
  charge: string;
  trx: string;
  signature: string;
}

function formOf(body: string): Form {
  const form = new URLSearchParams(body);
  const value = (name: string) => form.get(name) ?? '';
  return {
    amount: value('data[amount]'),
    identifier: value('identifier'),
    status: value('status'),
    currency: value('data[currency][code]'),
    charge: value('data[charge]'),
    trx: value('data[payment_trx]'),
    signature: value('signature'),
  };
}

/** One answer for every rejection, which shows nothing. */
const REJECTED: Answer = { status: 400, body: 'rejected' };
const ACCEPTED: Answer = { body: 'ok' };

/** Settles an order at a receiver, and diagnoses its IPN. */
async function diagnosed(
  handler: (request: Received, number: number) => Answer,
  { sim = undefined as Sim | undefined, input = {}, identifier = 'order-1' } = {},
) {
  const receiver = await startReceiver(handler);
  const used = sim ?? (await startSim());
  await paid(used, { ...ORDER, amount: '49.90', identifier, ipn_url: `${receiver.url}/ipn` });
  const path = `/ipns/${identifier}/diagnose`;
  const { status, body } = await ask<Diagnosis>(used, 'POST', path, input);
  return { status, diagnosis: body, requests: receiver.requests, sim: used };
}

/** Whether the signature is right. */
const isRight = (body: string) => {
  const { amount, identifier, signature } = formOf(body);
  return signature === hmac(amount + identifier);
};

type Compute = (form: Form, body: string) => string;

/** Code with one mistake: it accepts an IPN if the signature is the one that it computes. */
const checks =
  (compute: Compute) =>
  ({ body }: Received) =>
    compute(formOf(body), body) === formOf(body).signature ? ACCEPTED : REJECTED;

/** Accepts fields that are signed rightly. */
const checked = (form: Form | false | undefined): Answer =>
  form && form.signature === hmac(form.amount + form.identifier) ? ACCEPTED : REJECTED;

function fieldsOfJson(body: string): Form {
  const { signature, identifier, data } = JSON.parse(body);
  return { ...formOf(''), signature, identifier, amount: data.amount };
}

/** Some mistakes of `ipn verify`, whose test has all of them, and those that only a diagnosis looks for. */
const MISTAKEN: [mistake: string, cause: string, compute: Compute][] = [
  [
    'amount-reformatted',
    'Your handler signs 49.9. The IPN says 49.90.',
    ({ amount, identifier }) => hmac(`${Number(amount)}${identifier}`),
  ],
  [
    'amount-reformatted',
    'Your handler signs 49.90000000. The IPN says 49.90.',
    ({ amount, identifier }) => hmac(`${Number(amount).toFixed(8)}${identifier}`),
  ],
  [
    'operands-swapped',
    'Your handler signs “order-149.90”. It must sign “49.90order-1”.',
    ({ amount, identifier }) => hmac(identifier + amount),
  ],
  ['hash-without-hmac', 'plain SHA-256', (f) => hash(f.amount + f.identifier)],
  ['undefined-amount', 'signs “Noneorder-1”', (f) => hmac(`None${f.identifier}`)],
  ['empty-text', 'signs “”', () => hmac('')],
  ['empty-text', 'signs “NoneNone”', () => hmac('NoneNone')],
  ['amount-only', 'signs “49.90”', (f) => hmac(f.amount)],
  ['identifier-only', 'signs “order-1”', (f) => hmac(f.identifier)],
  ['charge-included', '“49.90order-11.00”', (f) => hmac(f.amount + f.identifier + f.charge)],
  ['status-included', '“49.90order-1success”', (f) => hmac(f.amount + f.identifier + f.status)],
  [
    'whole-body',
    'It must sign “49.90order-1”.',
    (_, body) => {
      const form = new URLSearchParams(body);
      form.delete('signature');
      form.sort();
      return hmac(form.toString());
    },
  ],
  ['empty-key', 'an empty key', (f) => hmac(f.amount + f.identifier, '')],
  ['key-with-whitespace', 'a quotation mark', (f) => hmac(f.amount + f.identifier, `"${KEY}"`)],
];

describe('a diagnosis', () => {
  it.each(MISTAKEN)('finds %s: %s', async (mistake, cause, compute) => {
    const { diagnosis, requests } = await diagnosed(checks(compute));
    expect(diagnosis).toMatchObject({ mistake, accepted: mistake, cause: expect.stringContaining(cause) });
    expect(diagnosis.fix).toEqual(expect.any(String));
    expect(diagnosis.tried.length).toBeLessThanOrEqual(60);
    // The first attempt of the IPN, then every request of the diagnosis. The genuine IPN is the last.
    expect(requests).toHaveLength(1 + diagnosis.tried.length);
    expect(requests.at(-1)?.body).toBe(requests[0]?.body);
  });

  it.each(['', 'undefinedundefined'])('names base64 if a handler signs “%s”', async (text) => {
    const { diagnosis } = await diagnosed(checks(() => hmac(text)));
    expect(diagnosis.fix).toContain('isBase64Encoded');
  });

  it('has the fix as code in the language that the responses reveal', async () => {
    const handler = checks((f) => hmac(f.identifier + f.amount));
    const headers = { Server: 'BaseHTTP/0.6 Python/3.12' };
    const { diagnosis } = await diagnosed((request) => ({ ...handler(request), headers }));
    expect(diagnosis.fix).toContain('In Python: ');
  });

  it.each<[name: string, answers: [right: Answer, wrong: Answer]]>([
    ['an unknown order', [{ status: 404, body: 'no such order' }, REJECTED]],
    ['a wrong amount', [{ status: 409, body: '{"error":"amount mismatch"}' }, REJECTED]],
    ['an order that is closed', [{ status: 410 }, { status: 401 }]],
    ['maintenance', [{ status: 503, body: 'later' }, { status: 400 }]],
    ['a body that says so', [{ body: '{"success":false}' }, { status: 403 }]],
  ])('never blames the signature if it is right and the IPN is refused for %s', async (_, [right, wrong]) => {
    const handler = ({ body }: Received) => {
      const { amount, identifier, signature } = formOf(body);
      return hmac(amount + identifier) === signature ? right : wrong;
    };
    const { diagnosis } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({ mistake: 'not-the-signature', accepted: null });
    expect(diagnosis.cause).toMatch(/^Your handler checks the signature correctly/);
  });

  it('masks the key in an answer before it cuts the answer', async () => {
    const { diagnosis } = await diagnosed(() => ({ status: 400, body: `${'x'.repeat(190)}${KEY}` }));
    const answers = new Set(diagnosis.tried.map(({ answer }) => answer));
    expect([...answers]).toEqual([`${'x'.repeat(190)}sec_sim_…`.padEnd(199, '.').slice(0, 199).concat('…')]);
    const { diagnosis: other } = await diagnosed(() => ({ status: 400, body: `not signed with ${KEY}` }));
    expect(JSON.stringify(other)).not.toContain(KEY.slice(0, 12));
    expect(JSON.stringify(other)).toContain('not signed with sec_sim_…ey');
  });

  it('says that a receiver fails whatever it gets', async () => {
    const { diagnosis } = await diagnosed(() => ({ status: 500, body: 'oops' }));
    expect(diagnosis).toMatchObject({
      cause: null,
      summary: expect.stringMatching(
        /^Your handler fails with all \d+ variants of the IPN\. Its answers do not show .*: --paid-when decides that/,
      ),
    });
  });

  it('finds what is rejected after the signature, also if that is answered in another way', async () => {
    const handler = ({ body }: Received): Answer => {
      if (!isRight(body)) return { status: 401 };
      return formOf(body).status === 'SUCCESS' ? ACCEPTED : { status: 422 };
    };
    const { diagnosis } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({ mistake: 'not-the-signature', accepted: 'status-SUCCESS' });
  });

  it('tries only other forms of the request if the answer is about them', async () => {
    const handler = ({ method }: Received) => (method === 'GET' ? REJECTED : { status: 405 });
    const { diagnosis } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({ cause: 'The route does not accept POST (405).', accepted: null });
    expect(diagnosis.tried.length).toBeLessThan(15);
  });

  it('does not blame the signature if the order is looked up first', async () => {
    const handler = ({ body }: Received): Answer => {
      const { amount, identifier, signature } = formOf(body);
      if (identifier !== 'order-1') return { status: 404, body: 'unknown' };
      return hmac(amount + identifier) === signature ? { status: 409, body: 'wrong total' } : REJECTED;
    };
    const { diagnosis } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({ mistake: 'not-the-signature', accepted: null });
  });

  it('cannot tell if everything is answered alike, unless a probe shows the order', async () => {
    let isPaid = false;
    const handler = ({ body, url }: Received): Answer => {
      if (url.startsWith('/orders/')) return { body: JSON.stringify({ status: isPaid ? 'paid' : 'open' }) };
      const { amount, identifier, signature } = formOf(body);
      isPaid ||= hmac(`${Number(amount)}${identifier}`) === signature;
      return {};
    };
    const { diagnosis, sim, requests } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({ cause: null, summary: expect.stringMatching(/^Cannot tell: /) });
    expect(
      requests.map(({ body }) => formOf(body).identifier).filter((one) => one !== 'order-1'),
    ).toHaveLength(2);
    const to =
      sim.server.parts.store.state.deliveriesOf(sim.server.parts.payments.require('order-1').id)[0]?.url ??
      '';
    const probeUrl = new URL('/orders/{identifier}', to).href;
    const input = { probeUrl, paidWhen: '.status=paid' };
    const { body } = await ask<Diagnosis>(sim, 'POST', '/ipns/order-1/diagnose', input);
    expect(body).toMatchObject({ mistake: 'amount-reformatted' });
    const alone = await ask(sim, 'POST', '/ipns/order-1/diagnose', { probeUrl });
    expect(alone).toMatchObject({ status: 422, body: { message: expect.stringContaining('--paid-when') } });
  });

  it.each<[mistake: string, accepted: string, handler: (request: Received) => Answer, identifier?: string]>([
    ['json', 'json', ({ body }) => checked(body.startsWith('{') && fieldsOfJson(body))],
    [
      'number-amount',
      'number-amount',
      ({ body }) =>
        checked(/"amount":\d/.test(body) && fieldsOfJson(body.replace(/("amount":)([\d.]+)/, '$1"$2"'))),
    ],
    [
      'multipart',
      'multipart',
      ({ body, headers }) =>
        checked(
          /multipart/.test(headers['content-type'] ?? '') &&
            formOf(
              new URLSearchParams(
                [...body.matchAll(/name="([^"]+)"\r\n\r\n(.*)\r\n/g)].map(
                  ([, name = '', value = '']): [string, string] => [name, value],
                ),
              ).toString(),
            ),
        ),
    ],
    ['query', 'query', ({ method, url }) => checked(method === 'POST' && formOf(url.split('?')[1] ?? ''))],
    [
      'get',
      'get',
      ({ method, url }) => (method === 'GET' ? checked(formOf(url.split('?')[1] ?? '')) : { status: 405 }),
    ],
    [
      'data-as-json-text',
      'data-as-json-text',
      ({ body }) => {
        const data = new URLSearchParams(body).get('data');
        return checked(data?.startsWith('{') && { ...formOf(body), amount: JSON.parse(data).amount });
      },
    ],
    [
      'not-the-signature',
      'identifier-lower-case',
      ({ body }) => (formOf(body).identifier === 'order-a' ? ACCEPTED : { status: 404 }),
      'ORDER-A',
    ],
    [
      'not-the-signature',
      'identifier-numeric',
      ({ body }) => (formOf(body).identifier === '17' ? ACCEPTED : { status: 404 }),
      'order-17',
    ],
    [
      'not-the-signature',
      'status-completed',
      ({ body }) => (isRight(body) && formOf(body).status === 'completed' ? ACCEPTED : REJECTED),
    ],
    [
      'not-the-signature',
      'currency-as-text',
      ({ body }) =>
        isRight(body) && new URLSearchParams(body).get('data[currency]') === 'USD' ? ACCEPTED : REJECTED,
    ],
    [
      'base64-body',
      'base64-body',
      // A platform of functions hands over the bodies of other types than text in base64.
      ({ body, headers }) => {
        const isText = /^text/.test(headers['content-type'] ?? '');
        return checked(formOf(isText ? body : Buffer.from(body).toString('base64')));
      },
    ],
    [
      'not-decoded',
      'not-decoded',
      ({ body }) => (isRight(body) && body.includes('data[amount]=') ? ACCEPTED : REJECTED),
    ],
    [
      'not-the-signature',
      'amount-as-text',
      ({ body }) => (isRight(body) && formOf(body).amount === '49.9' ? ACCEPTED : REJECTED),
    ],
    [
      'not-the-signature',
      'signature-header',
      ({ body, headers }) => {
        const { amount, identifier } = formOf(body);
        return hmac(amount + identifier) === headers['x-signature'] ? ACCEPTED : REJECTED;
      },
    ],
    [
      'not-the-signature',
      'identifier-elsewhere',
      ({ body }) =>
        isRight(body) && new URLSearchParams(body).get('order_id') === 'order-1' ? ACCEPTED : REJECTED,
    ],
    [
      'not-the-signature',
      'order-by-trx',
      ({ body }) => {
        if (!isRight(body)) return REJECTED;
        // Acknowledges every other status.
        if (formOf(body).status !== 'success') return ACCEPTED;
        return formOf(body).trx === 'order-1' ? ACCEPTED : { status: 404 };
      },
    ],
    [
      'not-the-signature',
      'amount-elsewhere',
      ({ body }) => (isRight(body) && new URLSearchParams(body).has('amount') ? ACCEPTED : { status: 500 }),
    ],
    [
      'not-the-signature',
      'charge-in-total',
      ({ body }) =>
        isRight(body) && Number(formOf(body).amount) - Number(formOf(body).charge) === 49.9
          ? ACCEPTED
          : REJECTED,
    ],
    [
      'not-the-signature',
      'too-old',
      ({ body }) => {
        const at = new URLSearchParams(body).get('data[payment_timestamp]');
        return isRight(body) && Date.parse(`${at}+09:00`) > Date.now() ? ACCEPTED : REJECTED;
      },
    ],
  ])('finds %s: %s is accepted', async (mistake, accepted, handler, identifier = 'order-1') => {
    const { diagnosis } = await diagnosed(handler, { identifier });
    expect(diagnosis).toMatchObject({ mistake, accepted, fix: expect.any(String) });
  });

  it('says of a form parser that does not nest only what was proved: as JSON, the IPN is accepted', async () => {
    const handler = ({ body, headers }: Received): Answer => {
      const isJson = /json/.test(headers['content-type'] ?? '');
      const fields = isJson ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
      if (fields.data === undefined)
        return {
          status: 500,
          body: '{"message":"Cannot read properties of undefined (reading \'amount\')"}',
        };
      return fields.signature === hmac(fields.data.amount + fields.identifier) ? ACCEPTED : REJECTED;
    };
    const { diagnosis } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({
      mistake: 'json',
      cause:
        'Your handler accepts the IPN as JSON: nested fields, such as data.amount, are read. It does not accept it as the gateway sends it: a URL-encoded form, by POST.',
      fix: expect.stringMatching(
        /the name data\[amount\].*a parser that nests fields.*If your handler expects JSON/,
      ),
    });
    expect(diagnosis.summary).not.toContain('reads JSON');
  });

  it.each([
    [
      'the body',
      (body: string) => ({
        detail: [{ loc: ['body'], msg: 'Input should be a valid dictionary', input: body }],
      }),
    ],
    [
      'the signature',
      (body: string) => ({ message: 'Input should be a valid dictionary', got: formOf(body).signature }),
    ],
  ])(
    'blames no signature if a receiver rejects everything and repeats %s, but takes its reason',
    async (_, echo) => {
      const handler = ({ body }: Received): Answer => ({ status: 422, body: JSON.stringify(echo(body)) });
      const { diagnosis } = await diagnosed(handler);
      expect(diagnosis).toMatchObject({
        cause: 'Your handler rejects the IPN (422 “Input should be a valid dictionary”).',
        fix: expect.stringMatching(/^Read the body as a form/),
        mistake: 'not-the-signature',
        accepted: null,
      });
      expect(diagnosis.summary).toMatch(/ None of 5\d variants of the IPN was accepted\.$/);
    },
  );

  it.each<[mistake: string, accepted: string, handler: (request: Received) => Answer]>([
    ['reads JSON', 'json', ({ body }) => (body.startsWith('{') ? ACCEPTED : REJECTED)],
    [
      'reads a GET request',
      'get',
      ({ method, url }) => (method === 'GET' && url.includes('?') ? ACCEPTED : { status: 405 }),
    ],
    ['reads the query', 'query', ({ url }) => (url.includes('identifier=') ? ACCEPTED : REJECTED)],
  ])('says that a handler %s and checks no signature', async (_, accepted, handler) => {
    const { diagnosis } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({
      mistake: 'signature-not-checked',
      accepted,
      cause: expect.stringMatching(/(JSON|query).*It checks no signature/),
    });
  });

  it('never denies what was accepted, although it proves nothing', async () => {
    const { diagnosis } = await diagnosed(({ body }) =>
      formOf(body).status ? REJECTED : { body: 'nothing to do' },
    );
    expect(diagnosis).toMatchObject({ cause: null, summary: expect.stringContaining('(json, ') });
    expect(diagnosis.summary).not.toContain('None of');
  });

  it('finds a signature that passes the check, although the IPN is rejected later', async () => {
    const handler = ({ body }: Received): Answer => {
      const { amount, identifier, signature } = formOf(body);
      if (identifier !== 'order-1') return { status: 404, body: 'unknown' };
      return hmac(`${Number(amount)}${identifier}`) === signature
        ? { status: 409, body: 'total 49.9 is not 49.90' }
        : REJECTED;
    };
    const { diagnosis } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({ mistake: 'amount-reformatted', accepted: 'amount-reformatted' });
    expect(diagnosis.summary).toContain('It was then rejected: 409 “total 49.9 is not 49.90”.');
  });

  it.each([
    ['before the order is looked up', [] as string[]],
    ['after the order is looked up', ['order-1']],
  ])('never blames the first mistake that it tries if the check is inverted %s', async (_, known) => {
    const handler = ({ body }: Received): Answer => {
      const { amount, identifier, signature } = formOf(body);
      if (known.length && !known.includes(identifier)) return { status: 404 };
      return hmac(amount + identifier) === signature ? REJECTED : ACCEPTED;
    };
    const { diagnosis } = await diagnosed(handler);
    expect(diagnosis).toMatchObject({ mistake: 'signature-not-checked', accepted: expect.any(String) });
  });

  const wrongTotal = ({ body }: Received): Answer => {
    const { amount, identifier, signature } = formOf(body);
    if (identifier !== 'order-1') return { status: 404, body: 'unknown' };
    return hmac(amount + identifier) === signature ? { status: 422 } : REJECTED;
  };

  it.each<[what: string, handler: (request: Received) => Answer]>([
    [
      'answers 200 to GET',
      (request) => (request.method === 'GET' ? { body: '<h1>Shop</h1>' } : wrongTotal(request)),
    ],
    [
      'answers 200 to a body without fields',
      (request) => (formOf(request.body).status ? wrongTotal(request) : { body: 'nothing to do' }),
    ],
  ])('blames no form of the request if a handler %s', async (_, handler) => {
    expect((await diagnosed(handler)).diagnosis).toMatchObject({
      mistake: 'not-the-signature',
      accepted: null,
    });
  });

  it('compares only statuses if each answer has another id', async () => {
    const mistaken = checks(({ amount, identifier }) => hmac(`${Number(amount)}${identifier}`));
    let count = 0;
    const { diagnosis } = await diagnosed((request) => {
      const answer = mistaken(request);
      return answer === REJECTED ? { status: 400, body: `req_${'xyzuvw'[count++ % 6]}kl` } : answer;
    });
    expect(diagnosis).toMatchObject({ mistake: 'amount-reformatted' });
  });

  it('cannot tell if equal requests are answered with different statuses', async () => {
    const { diagnosis } = await diagnosed((_, number) => ({ status: number % 2 ? 400 : 422 }));
    expect(diagnosis).toMatchObject({
      cause: null,
      summary: expect.stringMatching(/^Cannot tell: .*differently/),
    });
  });

  it.each([
    ['by hand', false],
    ['automatic', true],
  ])('waits for a response as long as the IPN does, %s', async (_, automatic) => {
    const sim = await startSim({ ipnTimeout: '200ms' });
    const { diagnosis } = await diagnosed(() => 'hang', { sim, input: { automatic } });
    expect(diagnosis).toMatchObject({
      cause: null,
      summary: expect.stringMatching(/^Your handler cannot be asked: timed out after 0.2 s\.$/),
    });
  });

  it('that is automatic blames its own limit, and not the handler, and sends the genuine IPN last', async () => {
    const { diagnosis } = await diagnosed((_, number) => (number === 4 ? 'hang' : REJECTED), {
      input: { automatic: true },
    });
    expect(diagnosis.summary).toBe(
      'Stopped after 3 requests, before a cause was found. ipn diagnose has more time.',
    );
    expect(diagnosis.tried.at(-1)).toMatchObject({ name: 'genuine', status: 400 });
  });

  it('blames nothing if the receiver stops answering', async () => {
    const { diagnosis } = await diagnosed(({ body }) => (body.startsWith('{') ? 'drop' : REJECTED));
    expect(diagnosis).toMatchObject({
      cause: null,
      summary: expect.stringContaining('at the request “number-amount”'),
    });
  });

  it('takes an order that is paid meanwhile as a proof', async () => {
    let isPaid = false;
    const mistaken = checks(({ amount, identifier }) => hmac(`${Number(amount)}${identifier}`));
    const { diagnosis } = await diagnosed((request) => {
      if (isPaid) return { status: 409, body: 'already paid' };
      const answer = mistaken(request);
      isPaid = answer === ACCEPTED;
      return answer;
    });
    expect(diagnosis).toMatchObject({ mistake: 'amount-reformatted' });
    expect(diagnosis.summary).toContain('returned 409 “already paid” to the same again');
  });

  it.each(['ERROR', 'failed', 'Forbidden', '0'])('is rejected by the word %s with 200', async (word) => {
    const mistaken = checks(({ amount, identifier }) => hmac(identifier + amount));
    const { diagnosis } = await diagnosed((request) =>
      mistaken(request) === ACCEPTED ? { body: 'OK' } : { body: word },
    );
    expect(diagnosis).toMatchObject({ mistake: 'operands-swapped' });
  });

  it('stops before its variants at an answer from before the handler', async () => {
    const { diagnosis } = await diagnosed((_) => ({ status: 302, headers: { Location: '/login' } }));
    expect(diagnosis).toMatchObject({ cause: expect.stringContaining('login'), tried: [{}] });
  });

  it('stops at a 429, and when its client goes away', async () => {
    const limited = await diagnosed((_) => ({ status: 429 }));
    expect(limited.diagnosis).toMatchObject({ cause: null, summary: expect.stringContaining('429') });
    expect(limited.diagnosis.tried).toHaveLength(1);
    const sim = await startSim();
    const receiver = await startReceiver([REJECTED]);
    await paid(sim, { ipn_url: `${receiver.url}/ipn` });
    const leaving = new AbortController();
    const left = sim.server.parts.ipns.diagnose('order-1', {}, leaving.signal);
    await receiver.request(6);
    leaving.abort();
    expect((await left).cause).toBeNull();
    expect(receiver.requests.length).toBeLessThan(10);
  });

  it('is only for an IPN that tells the state of a payment', async () => {
    const sim = await startSim();
    await paid(sim);
    const fired = async (fields: object) =>
      (await ask<{ id: string }>(sim, 'POST', '/ipns', { to: 'http://127.0.0.1:9/ipn', ...fields })).body.id;
    for (const [id, why] of [
      [await fired({}), 'it has no payment'],
      [await fired({ payment: 'order-1', tamper: 'amount' }), 'it was tampered with'],
      [await fired({ payment: 'order-1', status: 'failed' }), 'its payment is succeeded'],
    ] as const) {
      expect(await ask(sim, 'POST', `/ipns/${id}/diagnose`)).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining(why) },
      });
    }
    expect(await ask(sim, 'POST', '/ipns/nobody/diagnose')).toMatchObject({ status: 404 });
  });

  it('is kept on the IPN, not as attempts, and stays in the verdict while nothing else is known', async () => {
    let isUp = true;
    const handler = checks(({ amount, identifier }) => hmac(`${Number(amount)}${identifier}`));
    const { sim } = await diagnosed((request) => (isUp ? handler(request) : 'drop'));
    const [ipn] = sim.server.parts.store.state.deliveriesOf(sim.server.parts.payments.require('order-1').id);
    const seen = async () => (await ask(sim, 'GET', `/ipns/${ipn?.id}`)).body;
    const verdict = {
      tone: 'bad',
      cause: expect.stringMatching(/^Your handler signs 49.9. The IPN says 49.90. /),
    };
    expect(await seen()).toMatchObject({ state: 'failed', attempts: [{}], verdict });
    isUp = false;
    await ask(sim, 'POST', `/ipns/${ipn?.id}/resend`);
    const after = await seen();
    expect(after).toMatchObject({ attempts: [{}, {}], verdict });
    expect(JSON.stringify(after['verdict'])).toContain('The last attempt had no response');
  });

  it('says in the verdict what was tried if nothing is accepted', async () => {
    const { diagnosis, sim } = await diagnosed(() => REJECTED);
    expect(diagnosis).toMatchObject({ cause: null, mistake: null, accepted: null });
    const signatures = diagnosis.tried.map(({ name }) => name).filter(isSignatureMistake);
    expect(signatures).toEqual([
      ...['amount-reformatted', 'amount-reformatted', 'amount-reformatted', 'amount-reformatted'],
      ...['operands-swapped', 'lower-case'],
      ...['undefined-amount', 'undefined-amount', 'undefined-amount', 'identifier-only', 'amount-only'],
      ...['empty-text', 'empty-text', 'empty-text', 'hmac-arguments-swapped', 'public-key'],
      ...['key-with-whitespace', 'key-with-whitespace', 'key-with-whitespace', 'empty-key'],
      ...['hash-without-hmac', 'key-concatenated', 'key-concatenated', 'md5', 'md5', 'md5', 'sha1', 'sha512'],
      ...['base64', 'charge-included', 'currency-included', 'status-included', 'trx-instead-of-identifier'],
      ...['separator', 'separator', 'whole-body', 'whole-body', 'list-values'],
    ]);
    const [ipn] = (await ask<{ data: object[] }>(sim, 'GET', '/ipns?payment=order-1')).body.data;
    expect(ipn).toMatchObject({
      verdict: {
        cause: expect.stringMatching(
          /First compare the keys: .* gateway-sim keys .*None of 5\d variants of the IPN was accepted\. .*in base64/,
        ),
      },
    });
    expect(ipn).not.toHaveProperty('unexplained');
  });

  it('makes an IPN delivered only if the genuine one is accepted now', async () => {
    let isFixed = false;
    const { sim } = await diagnosed(({ body }) => {
      const { amount, identifier, signature } = formOf(body);
      return isFixed && hmac(amount + identifier) === signature ? ACCEPTED : REJECTED;
    });
    isFixed = true;
    const again = await ask<Diagnosis>(sim, 'POST', '/ipns/order-1/diagnose');
    expect(again.body).toMatchObject({ cause: null, accepted: 'genuine' });
    const { body } = await ask<{ data: object[] }>(sim, 'GET', '/ipns?payment=order-1');
    expect(body.data).toMatchObject([{ state: 'delivered', attempts: [{}, { responseStatus: 200 }] }]);
  });

  it('can be started on the page of the IPN', async () => {
    const handler = checks(({ amount, identifier }) => hmac(`${Number(amount)}${identifier}`));
    const receiver = await startReceiver(handler);
    const sim = await startSim();
    const settled = await paid(sim, { ipn_url: `${receiver.url}/ipn` });
    const page = `${sim.url}/_sim/ui/ipns/${settled.delivery?.id}`;
    const before = await (await fetch(page)).text();
    expect(before).toContain('Find the cause');
    expect(before).toContain('If your handler parses 49.90 as a number, it becomes 49.9 and');
    const body = new URLSearchParams({ from: new URL(page).pathname });
    const after = await (await fetch(`${page}/diagnose`, { method: 'POST', body })).text();
    expect(after).toMatch(/<h2>Your handler signs 49.9. The IPN says 49.90.<\/h2>/);
  });
});
