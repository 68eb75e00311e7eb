import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { Target } from '../../src/conform/target.ts';
import { startAnswering } from '../helpers/answering.ts';
import { held, LINES, linesNamed, startBetween } from '../helpers/conform.ts';
import { startSim } from '../helpers/sim.ts';

const KEYS = { publicKey: 'pub_x', secretKey: 'sec_x' };

describe('a target', () => {
  it.each(['<html></html>', '[]', '{"status":"ok"}', '"error"'])(
    'that responds with %s three times is not a gateway',
    async (body) => {
      let asked = 0;
      const url = await startAnswering(({ method }, response) => {
        if (method === 'POST') asked++;
        response.end(body);
      });
      await expect(held({ url, ...KEYS })).rejects.toMatchObject({
        code: 'no_server',
        message: expect.stringContaining('is not a gateway of this interface'),
      });
      expect(asked).toBe(3);
    },
  );

  it('that redirects is reported, with the new address', async () => {
    const url = await startAnswering((_, response) => {
      response.writeHead(301, { Location: 'https://www.pay.example/' }).end();
    });
    await expect(held({ url, ...KEYS })).rejects.toMatchObject({
      message: expect.stringContaining('it redirects to https://www.pay.example/'),
    });
  });

  it('that does not know a key is reported', async () => {
    const { url, publicKey, secretKey } = await startSim();
    const wrong = held({ url, publicKey: 'pub_wrong_0001', secretKey });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_api_key', message: /public key pub_wron…$/ });
    const alsoWrong = held({ url, publicKey, secretKey: 'sec_wrong_0001' });
    await expect(alsoWrong).rejects.toMatchObject({ message: /secret key sec_wron…$/ });
    await expect(held({ url, publicKey: '', secretKey: '' })).rejects.toMatchObject({
      message: /requires a public/,
    });
  });
});

describe('a target on this machine that does not prove to be an emulator', () => {
  const lines = linesNamed(
    ...['initiate-sandbox', 'initiate-live', 'card-create', 'route-root', 'ipn-status', 'checkout-page'],
    ...['checkout-success-url-exact', 'checkout-page-live'],
  );

  /** A gateway with its own checkout, like one at the end of a tunnel. */
  async function standIn(checkout: string, answer: RequestListener = () => {}) {
    const asked: string[] = [];
    const url = await startAnswering((incoming, response) => {
      asked.push(`${incoming.method} ${incoming.url}`);
      answer(incoming, response);
      if (response.writableEnded) return;
      response.end(JSON.stringify({ success: 'ok', url: url + checkout }));
    });
    return { url, asked, ...KEYS };
  }

  it.each([
    '/sandbox/initiate/payment/checkout?payment_id=1',
    '/pay?payment_id=1',
    '/sandbox/../payment/initiate',
  ])(
    'gets one request for proof, then only sandbox requests, even if its checkout is %s',
    async (checkout) => {
      const { asked, ...target } = await standIn(checkout);
      const { report } = await held(target, {}, { lines });
      const [first, ...more] = asked;
      expect(first).toBe('GET /_sim/livez');
      expect(more.length).toBeGreaterThan(2);
      expect(more.filter((one) => !/^[A-Z]+ \/sandbox\//.test(one))).toEqual([]);
      const why = Object.fromEntries(report.unseen.map((one) => [one.id, one.why]));
      const notTested = expect.stringMatching(
        /the target is not an emulator.*: use --live --live to test it$/,
      );
      expect(why).toMatchObject({
        ...{ 'initiate-live': notTested, 'card-create': notTested, 'checkout-page-live': notTested },
        'route-root': 'applies only to an emulator',
        'ipn-status': expect.stringContaining('no IPN can reach this machine'),
      });
    },
  );

  it.each<[string, RequestListener]>([
    [
      'sends back the headers that it gets',
      (incoming, response) => {
        for (const [name, value = ''] of Object.entries(incoming.headers)) {
          if (name.startsWith('x-')) response.setHeader(name, value);
        }
        if (incoming.url === '/_sim/livez') response.end('{"status":"live"}');
      },
    ],
    [
      'has the header on an error',
      (incoming, response) => {
        response.setHeader('X-Gateway-Sim', '1');
        if (incoming.url === '/_sim/livez') response.writeHead(404).end('{"status":"live"}');
      },
    ],
    ['has the header on everything', (_, response) => void response.setHeader('X-Gateway-Sim', '1')],
  ])('gets only sandbox requests, even if it %s', async (_, answer) => {
    const { asked, ...target } = await standIn('/pay?payment_id=1', answer);
    await held(target, {}, { lines });
    expect(asked.slice(1).filter((one) => !/^[A-Z]+ \/sandbox\//.test(one))).toEqual([]);
  });

  it('gets all requests to a gateway if the user asks for it, but none to a control API', async () => {
    const { asked, ...target } = await standIn('/pay?payment_id=1');
    await held(target, {}, { lines, live: true });
    expect(asked).toEqual(expect.arrayContaining(['POST /payment/initiate', 'POST /api/cards/save']));
    expect(asked.filter((one) => one.includes('/_sim'))).toEqual(['GET /_sim/livez']);
  });
});

describe('a gateway that keeps the payment in a session', () => {
  /** Like the published server copies: attributes without quotes, and a script that continues with JSON. */
  async function sessionGateway(last: (successUrl: string) => object) {
    const orders = new Map<string, string>();
    const page = (step: string) =>
      `<form action=/sandbox/pay/${step} method=post><input type=hidden name=_token value=t1><input data-name=x name=${step}></form>`;
    const url = await startAnswering(async (incoming, response) => {
      const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://gateway');
      const form = new URLSearchParams(await text(incoming));
      const session = /\bsession=(\w+)/.exec(incoming.headers.cookie ?? '')?.[1];
      const successUrl = orders.get(session ?? '');
      if (pathname === '/sandbox/payment/initiate') {
        const id = `p${orders.size}`;
        orders.set(id, form.get('success_url') ?? '');
        const checkout = `${url}/sandbox/initiate/payment/checkout?payment_id=${id}`;
        return void response.end(JSON.stringify({ success: 'ok', message: 'Initiated', url: checkout }));
      }
      if (pathname === '/sandbox/initiate/payment/checkout') {
        response.setHeader('Set-Cookie', [`session=${searchParams.get('payment_id')}; Path=/`, 'theme=dark']);
        return void response.end(page('email'));
      }
      if (successUrl === undefined) return void response.writeHead(419).end('Page expired');
      if (pathname === '/sandbox/pay/code' && incoming.method === 'GET')
        return void response.end(page('code'));
      const isEmail = form.get('email') === 'test_mode@mail.com' && form.get('_token') === 't1';
      if (isEmail) return void response.end(JSON.stringify({ redirect_url: '/sandbox/pay/code' }));
      response.end(JSON.stringify(form.get('code') === '222666' ? last(successUrl) : { error: 'true' }));
    });
    return { url, ...KEYS };
  }

  const lines = linesNamed('checkout-success-url-exact', 'checkout-settled', 'checkout-email-field');

  it('is paid with the cookies that it sets', async () => {
    const { report } = await held(await sessionGateway((redirect_url) => ({ redirect_url })), {}, { lines });
    expect(report).toMatchObject({ agree: lines.length, differ: [], unseen: [] });
  });

  it('has no difference in steps that were not reached', async () => {
    const { report } = await held(await sessionGateway(() => ({ message: 'Wait' })), {}, { lines });
    expect(report.differ).toEqual([]);
    expect(report.unseen).toEqual([
      { id: 'checkout-success-url-exact', why: 'the checkout could not be completed' },
      { id: 'checkout-settled', why: 'the checkout could not be completed' },
    ]);
  });
});

describe('an emulator, or a server that claims to be one, with strange responses', () => {
  const lines = linesNamed(
    'initiate-sandbox',
    'initiate-url',
    'card-create',
    'checkout-success-url-exact',
    'card-charged',
  );
  const redirect = (location: string) =>
    `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
  const json = (body: string) =>
    `HTTP/1.1 200 OK\r\nX-Gateway-Sim: 1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const initiated = (url: string) =>
    json(JSON.stringify({ success: 'ok', url, counts: {}, data: { id: '\ud800', card: [] } }));
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);

  it.each([
    ...['javascript:alert(1)', 'data:text/html,hello', 'mailto:a@b.example', 'http://[', '//'].flatMap(
      (url) => [
        ['a redirect to', url, redirect(url)],
        ['an address', url, initiated(url)],
        ['a form for', url, json(`<form action="${url}"><input name="a"></form>`)],
      ],
    ),
    ['JSON', 'without end', json(deep)],
    ['JSON', 'with parts without end', json(`{"error":"true","message":${deep},"data":{"id":${deep}}}`)],
    ['a status line', 'without a number', 'HTTP/1.1 abc\r\n\r\n'],
    ['a header', 'that is invalid', 'HTTP/1.1 200 OK\r\nBad Header: \x01\r\n\r\n'],
    ['bytes', 'that are not HTTP', '\0\x01hello'],
    ['chunks', 'that are invalid', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc'],
    ['a body', 'that ends early', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
  ])('has a difference for %s %s', async (_, __, answer) => {
    let count = 0;
    // The first requests identify the target.
    const url = await startAnswering((incoming, response) => {
      count++;
      if (count === 1) return void response.setHeader('X-Gateway-Sim', '1').end('{"status":"live"}');
      if (count <= 4)
        return void response.setHeader('X-Gateway-Sim', '1').end('{"success":"ok","counts":{}}');
      incoming.resume().on('end', () => response.socket?.end(answer));
    });
    const { report } = await held({ url, ...KEYS }, {}, { lines });
    expect(report.agree + report.differ.length + report.unseen.length).toBe(lines.length);
    expect(report.differ.length).toBeGreaterThan(0);
  });
});

it.each(['javascript://127.0.0.1/x', 'data:text/html,x', 'http://['])(
  '%s is not an address of the target',
  (address) => {
    const target = new Target({
      url: 'http://127.0.0.1:9',
      publicKey: '',
      secretKey: '',
      live: false,
    });
    target.isEmulator = true;
    expect([target.pathOf('http://127.0.0.1/x'), target.pathOf(address)]).toEqual(['/x', undefined]);
  },
);

describe('a missing response', () => {
  const lines = linesNamed('initiate-sandbox', 'initiate-answer-json', 'initiate-cors', 'initiate-url');

  /** An emulator behind a server that drops the connections of some requests. */
  async function behind(isLost: (count: number) => boolean) {
    const sim = await startSim();
    let count = 0;
    const loses = (path: string) => path.endsWith('/initiate') && isLost(count++);
    return { ...sim, url: await startBetween(sim, () => {}, loses) };
  }

  it('is requested one more time, and is a difference if it is lost twice', async () => {
    const once = await held(await behind((count) => count === 2), {}, { lines });
    expect(once.report).toMatchObject({ agree: 4, differ: [], unseen: [] });
    const closed = expect.stringContaining('closed the connection without a response');
    const target = await behind((count) => count > 0);
    const twice = await held(target, {}, { lines: lines.slice(0, 2) });
    expect(twice.report.differ).toMatchObject([
      { expected: 'a response', got: closed },
      { expected: 'a response', got: closed },
    ]);
  });

  it('is reported with its status if only the body ends early', async () => {
    const url = await startAnswering((incoming, outgoing) => {
      if (incoming.url === '/_sim/livez') return void outgoing.end('{}');
      incoming.resume().on('end', () => {
        if (asked++ === 0) outgoing.end('{"success":"ok"}');
        else outgoing.writeHead(502, { 'Content-Length': 9 }).write('half', () => outgoing.destroy());
      });
    });
    let asked = 0;
    const { report } = await held({ url, ...KEYS }, {}, { lines });
    expect(report.differ).toHaveLength(4);
    expect(report.differ[0]?.got).toMatch(/\(status 502\)$/);
  });

  it('on three lines in a row ends the run, and earlier results are reported', async () => {
    let isGone = false;
    const target = await behind(() => isGone);
    const many = LINES.filter(({ id }) => id.startsWith('field-')).slice(0, 20);
    const onLine = (done: number) => {
      isGone = done >= 5;
    };
    const { report, gone } = await held(target, {}, { lines: many, onLine });
    expect(gone).toMatchObject({ code: 'no_server' });
    expect(report).toMatchObject({ agree: expect.any(Number), differ: [] });
    expect(report.agree).toBeGreaterThan(4);
    expect(report.unseen.length).toBe(many.length - report.agree);
    expect(report.unseen[0]?.why).toContain('the target had stopped responding');
  });
});

it('a rejection must name the field only where the document says so', async () => {
  const url = await startAnswering((_, response) => void response.end('{"error":"true","message":"No"}'));
  const lines = linesNamed('field-amount-missing', 'field-customer-name-empty');
  const { report } = await held({ url, ...KEYS }, {}, { lines });
  expect(report.unseen).toEqual([
    { id: 'field-amount-missing', why: 'the request was refused without a reason' },
  ]);
  expect(report.differ).toMatchObject([
    { id: 'field-customer-name-empty', expected: 'a refusal that names customer_name' },
  ]);
});

it('a card may be anywhere in a response, because the document does not show its place', async () => {
  const sim = await startSim();
  const url = await startBetween(sim, (seen) => {
    seen.body = seen.body.replace('"data":', '"card":');
  });
  const lines = linesNamed('card-amount-number', 'card-create', 'card-create-success');
  const { report } = await held({ ...sim, url }, {}, { lines, live: true });
  const why = 'the document does not say which field of the response contains the card';
  expect(report).toMatchObject({ agree: 1, unseen: [{ id: 'card-amount-number', why }] });
  expect(report.differ.map(({ id }) => id)).toEqual(['card-create-success']);
});

it('a line stays untested if its pattern takes too long', async () => {
  const sim = await startSim();
  const [line] = linesNamed('initiate-sandbox');
  if (!line) throw new Error('there is no such line');
  const lines = [{ ...line, expect: { matches: { message: '^((a|[^b])+)+b$' } } }];
  const { report } = await held(sim, {}, { lines });
  expect(report).toMatchObject({
    ...{ agree: 0, differ: [] },
    unseen: [{ why: expect.stringContaining('takes too long to match') }],
  });
});
