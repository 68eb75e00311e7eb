import { describe, expect, it } from 'vitest';
import { checkoutUrlOf } from '../../../src/service/names.ts';
import { rawExchange, requestBytes } from '../../helpers/raw.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { fields } from '../../helpers/records.ts';
import { enter, idOf, paid, type Sim, startSim, writable } from '../../helpers/sim.ts';

type Mode = 'sandbox' | 'live';
const MODES: Mode[] = ['sandbox', 'live'];
/** The Accept header that browsers send when they open a page. */
const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const SANDBOX = { email: 'test_mode@mail.com', code: '222666' };

/** A checkout in a client that has no JavaScript and follows no redirects. */
interface Checkout {
  url: string;
  id: string;
  /** Posts a form of the checkout. */
  step: (name: string, form?: Record<string, string>, headers?: Record<string, string>) => Promise<Response>;
  status: () => Promise<string>;
}

async function checkoutOf(
  sim: Sim,
  changes: Record<string, string> = {},
  mode: Mode = 'sandbox',
): Promise<Checkout> {
  const { public_key: _, ...others } = fields() as Record<string, string>;
  const url = await sim.initiate({ ...others, ipn_url: 'http://127.0.0.1:9/ipn', ...changes }, mode);
  const id = idOf(url);
  return {
    url,
    id,
    step: (name, form, headers) => enter(url, name, form, headers),
    status: async () => (await sim.control<{ status: string }>(`/payments/${id}`)).status,
  };
}

async function newestCode(sim: Sim): Promise<string> {
  const { data } = await sim.control<{ data: { code: string }[] }>('/inbox');
  return data[0]?.code ?? '';
}

describe.each(MODES)('the %s checkout', (mode) => {
  it('redirects a browser after a rejected entry to a page that keeps the entry', async () => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim, {}, mode);
    const refused = await checkout.step('email', { email: 'no address' }, BROWSER);
    expect(refused.status).toBe(303);
    const shown = await fetch(sim.url + refused.headers.get('location'));
    const html = await shown.text();
    expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(html).toContain('role="alert"');
    expect(html).toContain('value="no address"');
    expect(await (await fetch(checkout.url)).text()).not.toContain('role="alert"');
    await checkout.step('email', { email: mode === 'sandbox' ? SANDBOX.email : 'wallet@example.com' });
    expect(await (await fetch(sim.url + refused.headers.get('location'))).text()).not.toContain(
      'role="alert"',
    );
  });

  it('rejects a field that is not text, and changes nothing', async () => {
    const checkout = await checkoutOf(await startSim(), {}, mode);
    for (const step of ['email', 'code', 'panel']) {
      const answer = await fetch(checkout.url.replace('/checkout?', `/checkout/${step}?`), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email: { toString: 1 }, code: { toString: 1 }, outcome: [] }),
      });
      expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('must be text')]);
    }
    expect(await checkout.status()).toBe('pending');
  });

  it('repeats the response to a form that is sent twice from one page, and settles once', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    const checkout = await checkoutOf(sim, { ipn_url: `${receiver.url}/ipn` }, mode);
    await checkout.step('email', { email: mode === 'sandbox' ? SANDBOX.email : 'wallet@example.com' });
    const code = mode === 'sandbox' ? SANDBOX.code : await newestCode(sim);
    const html = await (await fetch(checkout.url)).text();
    const action = /action="([^"]*\/code\?[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const send = (path: string, form: Record<string, string>) =>
      fetch(sim.url + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams(form) });

    expect((await send(action, { code: 'wrong' })).status).toBe(422);
    const answers = await Promise.all([send(action, { code }), send(action, { code })]);
    answers.push(await send(action, { code }));
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('location')]).toEqual([303, fields()['success_url']]);
    }
    expect((await send(action.replace('/code?', '/cancel?'), {})).status).toBe(409);
    expect((await send(`${action}-of-another-page`, { code })).status).toBe(409);
    expect(receiver.requests).toHaveLength(1);
  });

  it('redirects a browser that opens the URL of a form to the checkout', async () => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim, {}, mode);
    const address = new URL(checkout.url);
    for (const form of ['email', 'code', 'cancel', 'panel']) {
      const url = checkout.url.replace('/checkout?', `/checkout/${form}?`);
      const answer = await fetch(url, { redirect: 'manual', headers: BROWSER });
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        address.pathname + address.search,
      ]);
    }
    for (const form of ['nothing', 'constructor', 'email/more']) {
      const url = checkout.url.replace('/checkout?', `/checkout/${form}?`);
      expect((await fetch(url, { redirect: 'manual', headers: BROWSER })).status).toBe(404);
    }
    expect(await checkout.status()).toBe('pending');
  });

  it('shows a rejection to a browser as a page that links back to the payment', async () => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim, {}, mode);
    const headers = { ...BROWSER, Origin: 'https://evil.test' };
    const answer = await checkout.step('cancel', {}, headers);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'text/html; charset=UTF-8']);
    const { pathname, search } = new URL(checkout.url);
    expect(await answer.text()).toContain(`href="${pathname}${search}"`);
    expect(await checkout.status()).toBe('pending');
  });

  it('shows that a payment is settled, for GET and POST, at every step', async () => {
    const sim = await startSim();
    const endings = [
      ['approve', 409, 'http://localhost/ok'],
      ['cancel', 409, 'http://localhost/cart'],
      ['fail', 409, 'http://localhost/cart'],
      ['expire', 410, 'http://localhost/cart'],
    ] as const;
    for (const [outcome, status, back] of endings) {
      const urls = { success_url: 'http://localhost/ok', cancel_url: 'http://localhost/cart' };
      const checkout = await checkoutOf(sim, urls, mode);
      await checkout.step('panel', { outcome, delivery: 'redirect-only' });
      const answers = await Promise.all([
        fetch(checkout.url),
        fetch(checkout.url, { method: 'POST', body: new URLSearchParams() }),
        checkout.step('email', SANDBOX),
        checkout.step('code', SANDBOX),
        checkout.step('cancel'),
        checkout.step('resend'),
        checkout.step('back'),
        checkout.step('panel', { outcome: 'approve' }),
      ]);
      expect([outcome, ...answers.map((answer) => answer.status)]).toEqual([
        outcome,
        ...answers.map(() => status),
      ]);
      for (const answer of answers) {
        expect(answer.headers.get('content-type')).toContain('text/html');
        expect(await answer.text()).toContain(`href="${back}"`);
      }
    }
  });

  it('shows that a payment is unknown, for GET and POST, at every step', async () => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim, {}, mode);
    const other = await checkoutOf(sim, {}, mode === 'live' ? 'sandbox' : 'live');
    const path = checkout.url.split('?')[0];
    for (const query of [
      '',
      '?payment_id=',
      '?payment_id=pay_nope',
      `?payment_id=${other.id}`,
      '?payment_id=order-1',
    ]) {
      for (const step of ['', '/email', '/code', '/cancel', '/resend', '/back', '/panel']) {
        const answer = await fetch(`${path}${step}${query}`, {
          method: 'POST',
          body: new URLSearchParams({ outcome: 'approve' }),
        });
        expect([step, query, answer.status]).toEqual([step, query, 404]);
        expect(answer.headers.get('content-type')).toContain('text/html');
      }
      expect((await fetch(path + query)).status).toBe(404);
    }
    expect([await checkout.status(), await other.status()]).toEqual(['pending', 'pending']);
  });

  it('rejects forms from a page on another site', async () => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim, {}, mode);
    const foreign: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' },
      { 'Sec-Fetch-Site': 'same-site', Origin: 'http://localhost:1' },
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' },
      { Origin: 'https://evil.test' },
      { Origin: 'null' },
    ];
    for (const headers of foreign) {
      for (const step of ['cancel', 'panel', 'email']) {
        const answer = await checkout.step(step, { outcome: 'approve', ...SANDBOX }, headers);
        expect([headers, step, answer.status]).toEqual([headers, step, 403]);
      }
      const arrival = await fetch(checkout.url, { method: 'POST', headers, body: new URLSearchParams() });
      expect(arrival.status).toBe(200);
    }
    expect(await checkout.status()).toBe('pending');
    const own = { 'Sec-Fetch-Site': 'same-origin', Origin: sim.url };
    expect((await checkout.step('cancel', {}, own)).status).toBe(303);
  });

  it('lets its forms redirect to the merchant, and loads only the logo from elsewhere', async () => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim, {}, mode);
    const { headers } = await fetch(checkout.url);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/form-action 'self' http: https:/);
    expect(policy).toMatch(/img-src http: https: data:/);
    expect(policy).toContain("base-uri 'none'; frame-ancestors 'self'");
    expect(policy).toMatch(/script-src 'nonce-[^']+';/);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    const { headers: over } = await fetch(checkout.url.split('?')[0] ?? '');
    expect(over.get('content-security-policy')).toContain('img-src data:;');
  });
});

/** URLs as merchants send them; each must reach the browser byte for byte. */
const ADDRESSES = [
  'http://localhost?paid=1',
  'http://localhost:3000/?a=1&b=%20c%2F&a=2#top',
  'http://localhost/caf\u00e9/\u00ff?q=\u00fc',
  'http://localhost/\u65e5\u672c\u8a9e?q=\u20ac',
  'http://localhost/\u{1f600}',
  'http://localhost/%E0%A4%A?x=%zz',
  'HTTP://LOCALHOST:80/../a/./b//c',
  'http://user:word@localhost/a;b,c\'"<>`{}|\\^[]',
];

describe('the redirect to the merchant', () => {
  const ENDS = [
    ['approve', 'success_url'],
    ['cancel', 'cancel_url'],
  ] as const;
  it.each(ENDS)('after %s goes to %s, byte for byte', async (outcome, name) => {
    const sim = await startSim();
    for (const address of ADDRESSES) {
      const checkout = await checkoutOf(sim, { [name]: address });
      const { pathname, search } = new URL(checkout.url);
      const form = `outcome=${outcome}&delivery=redirect-only`;
      const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const bytes = requestBytes('POST', `${pathname}/panel${search}`, type, form);
      const answer = await rawExchange(sim.server.port, bytes);
      expect(answer.status).toBe(303);
      expect(Buffer.from(answer.headers['location'] ?? '', 'latin1').toString('utf8')).toBe(address);
    }
  });
});

describe('the sandbox checkout', () => {
  it('accepts only the values of --sandbox-email and --sandbox-code', async () => {
    const sim = await startSim({ sandboxEmail: 'me@test.example', sandboxCode: 'letmein' });
    const checkout = await checkoutOf(sim);
    expect((await checkout.step('email', SANDBOX)).status).toBe(422);
    expect((await checkout.step('email', { email: 'me@test.example' })).status).toBe(303);
    expect((await checkout.step('code', SANDBOX)).status).toBe(422);
    expect((await checkout.step('code', { code: 'letmein' })).status).toBe(303);
  });

  it('asks for the e-mail if a code is posted first', async () => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim);
    const answer = await checkout.step('code', SANDBOX);
    expect([answer.status, await checkout.status()]).toEqual([303, 'pending']);
  });
});

describe('the simulator panel', () => {
  it('is on the page unless --no-panel, with a link to the dashboard', async () => {
    for (const panel of [true, false]) {
      const sim = await startSim({ panel });
      const checkout = await checkoutOf(sim);
      expect((await (await fetch(checkout.url)).text()).includes('/checkout/panel?')).toBe(panel);
      const answer = await checkout.step('panel', { outcome: 'approve', delivery: 'redirect-only' });
      expect(answer.status).toBe(panel ? 303 : 404);
      expect(await checkout.status()).toBe(panel ? 'succeeded' : 'pending');
      await checkout.step('cancel');
      const over = await (await fetch(checkout.url)).text();
      expect([panel, over.includes(`/_sim/ui/payments/${checkout.id}`)]).toEqual([panel, panel]);
    }
  });

  it.each([
    [
      { outcome: 'explode' },
      'outcome must be one of approve, cancel, fail, expire (got &quot;explode&quot;)',
    ],
    [
      { outcome: 'approve', delivery: 'ipn-onyl' },
      'delivery must be one of ipn-then-redirect, redirect-then-ipn, ipn-only, redirect-only, ipn-twice (got &quot;ipn-onyl&quot;): did you mean ipn-only?',
    ],
  ])('rejects %j, and shows an error page in browsers', async (form, problem) => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim);
    const answer = await checkout.step('panel', form, BROWSER);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([422, 'text/html; charset=UTF-8']);
    const html = await answer.text();
    expect(html).toContain(problem);
    expect(html).toContain(`payment_id=${checkout.id}`);
    expect((await checkout.step('panel', form)).status).toBe(422);
    expect(await checkout.status()).toBe('pending');
  });
});

describe('the live checkout', () => {
  it('shows that a code has expired before it is entered, until a new one is sent', async () => {
    const sim = await startSim();
    const checkout = await checkoutOf(sim, {}, 'live');
    await checkout.step('email', { email: 'wallet@example.com' });
    const shown = async (method = 'GET') => {
      const answer = await fetch(checkout.url, { method });
      return { status: answer.status, html: await answer.text() };
    };
    expect((await shown()).html).not.toContain('role="alert"');
    await sim.server.parts.clock.move({ advance: '10m' });
    for (const method of ['GET', 'POST']) {
      const { status, html } = await shown(method);
      expect(status).toBe(200);
      expect(html).toMatch(/role="alert"[^>]*>The verification code has expired\. Request a new code/);
    }
    const french = await fetch(checkout.url, { headers: { 'Accept-Language': 'fr' } });
    expect(await french.text()).toContain('>Le code de vérification a expiré. ');
    await checkout.step('resend');
    expect((await shown()).html).not.toContain('role="alert"');
  });
});

it('a live payment succeeds after every mistake, another e-mail and another code', async () => {
  const sim = await startSim();
  const receiver = await startReceiver();
  const { url, step, status } = await checkoutOf(sim, { ipn_url: `${receiver.url}/ipn` }, 'live');
  const shown = async () => (await fetch(url)).text();
  expect((await step('email', { email: 'poor@example.com' })).status).toBe(422);
  await step('email', { email: 'wallet@example.com' });
  const first = await newestCode(sim);
  await step('resend');
  const second = await newestCode(sim);
  expect(second).not.toBe(first);
  await step('back');
  expect(await shown()).toContain('<label for="email">E-mail</label>');
  await step('email', { email: 'wallet@example.com' });
  expect(await shown()).toContain('<label for="code">Verification code</label>');
  for (const code of ['x', first, second]) expect((await step('code', { code })).status).toBe(422);
  const paid = await step('code', { code: await newestCode(sim) });
  expect([paid.status, paid.headers.get('location')]).toEqual([303, fields()['success_url']]);
  expect([await status(), receiver.requests.length]).toEqual(['succeeded', 1]);
});

describe('the thank-you pages of `payments create`', () => {
  it('are open to other machines without the token', async () => {
    const sim = await startSim({ host: '0.0.0.0', controlToken: 'the-token' });
    expect((await fetch(`${sim.url}/_sim/ui/paid`)).status).toBe(200);
  });

  it.each([true, false])('link to the dashboard if the panel is shown: %s', async (panel) => {
    const sim = await startSim({ panel });
    const html = await (await fetch(`${sim.url}/_sim/ui/paid`)).text();
    expect(html.includes('href="/_sim"')).toBe(panel);
  });
});

it('pages never link to an invalid URL from an imported state', async () => {
  const sim = await startSim();
  const { payment } = await paid(sim);
  // An edited journal may contain such a record.
  writable(sim.server.parts.store.state.payments).put({ ...payment, successUrl: 'javascript:alert(1)' });
  const page = await fetch(checkoutUrlOf(payment, sim.url));
  const html = await page.text();
  expect(html).toContain('succeeded');
  expect(html).not.toContain('javascript:');
});
