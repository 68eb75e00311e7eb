import { beforeEach, describe, expect, it } from 'vitest';
import { requireTamperings } from '../../../src/contract/tampering.ts';
import { pageOf, postForm } from '../../helpers/forms.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { CARD } from '../../helpers/records.ts';
import { ORDER, paid, type Sim, startSim } from '../../helpers/sim.ts';

const HOSTILE = `"><img src=x>'&`;
let sim: Sim;

beforeEach(async () => {
  sim = await startSim();
});

const fields = (more: Record<string, string> = {}) => ({ ...ORDER, ...more });

const get = (path: string, headers: Record<string, string> = {}) => fetch(sim.url + path, { headers });

/** The page that follows a form, as text. */
async function followed({ status, location }: Awaited<ReturnType<typeof postForm>>): Promise<string> {
  expect(status).toBe(303);
  return pageOf(sim, location ?? '');
}

const newest = async () => (await sim.control<{ data: { id: string }[] }>('/payments')).data[0]?.id ?? '';

/** The id of the IPN of a paid order. */
const approved = async (changes: Record<string, string> = {}, on = sim) =>
  (await paid(on, changes)).delivery?.id ?? '';

const PAGES = [
  '',
  '?status=needs-attention',
  '/ui/payments',
  '/ui/cards',
  '/ui/settings',
  '/ui/requests',
  '/ui/new-payment',
  '/ui/signature',
];

describe('every page of the dashboard', () => {
  it.each(PAGES)('/_sim%s is complete, with an empty store and with records', async (path) => {
    const empty = await get(`/_sim${path}`);
    expect([empty.status, empty.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
    await sim.initiate(fields());
    const full = await pageOf(sim, `/_sim${path}`);
    expect(full).toMatch(/^<!doctype html>.*<\/html>$/s);
    expect(full.match(/<h1/g)).toHaveLength(1);
    expect(full).not.toContain('undefined');
  });

  it('links to each record, whatever its id in an imported state', async () => {
    await sim.initiate(fields());
    const odd = `pay /../?a#b%0a\n${HOSTILE}`;
    const snapshot = (await pageOf(sim, '/_sim/snapshot')).replaceAll(
      await newest(),
      JSON.stringify(odd).slice(1, -1),
    );
    const headers = { 'content-type': 'application/json' };
    const put = await fetch(`${sim.url}/_sim/snapshot`, { method: 'PUT', headers, body: snapshot });
    expect(put.status).toBe(200);
    const [, link = ''] = /<th scope="row"><a href="([^"]*)"/.exec(await pageOf(sim, '/_sim')) ?? [];
    const path = link.replaceAll('&#39;', "'");
    const shown = await get(path);
    expect([shown.status, (await shown.text()).includes('<img')]).toEqual([200, false]);
    expect(await followed(await postForm(sim, `${path}/settle`, { outcome: 'approve' }))).toContain(
      '>succeeded<',
    );
  });

  it('runs only its own script, and loads nothing from elsewhere', async () => {
    const policy = (await get('/_sim')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await pageOf(sim, '/_sim');
    expect(html).not.toMatch(/<script(?! src="\/_sim\/ui\/live.js")| on\w+=|style="/);
  });

  it('shows the text of a merchant as text, never as markup', async () => {
    const ipn = await approved({ identifier: HOSTILE, details: HOSTILE, customer_name: HOSTILE });
    const id = await newest();
    for (const path of [...PAGES, `/ui/payments/${id}`, `/ui/ipns/${ipn}`, '/ui/requests/1']) {
      const html = await pageOf(sim, `/_sim${path}`);
      expect(html).not.toContain('<img');
    }
  });

  it('has an icon, even if the page declares none, and requests for it are not logged', async () => {
    const icon = await get('/favicon.ico');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(await pageOf(sim, '/_sim')).toContain('<link rel="icon" href="data:image/svg+xml,');
    expect((await sim.control<{ data: unknown[] }>('/requests')).data).toEqual([]);
  });

  it.each(['GET', 'POST', 'DELETE'])(
    'responds to %s at an unknown URL of the dashboard with a page',
    async (method) => {
      for (const path of [
        '/_sim/ui/payment',
        '/_sim/ui/',
        '/_sim/ui/payments/a/b',
        '/_sim/ui/%3Cscript%3E',
      ]) {
        const answer = await fetch(sim.url + path, { method });
        expect([path, answer.status]).toEqual([path, 404]);
        expect(answer.headers.get('content-type')).toBe('text/html; charset=UTF-8');
        const html = await answer.text();
        expect(html).toMatch(/role="alert".*there is no route .*<h1>Not found<\/h1>/s);
        expect(html).not.toContain('<script>');
        expect(html).not.toContain('nearest route');
      }
      const other = await fetch(`${sim.url}/_sim/uix`, { method });
      expect(other.headers.get('content-type')).toBe('application/json');
    },
  );

  it('is linked by the page of an unknown path, which only browsers get, and not for paths of the API', async () => {
    const html = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
    const page = await get('/nowhere/<b>', html);
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8']);
    const text = await page.text();
    expect(text).toMatch(
      /<h1>There is nothing here<\/h1>.*There is no route GET .*href="\/_sim">Open the dash/s,
    );
    expect(text).not.toContain('<b>');
    for (const [path, headers] of [
      ['/nowhere', {}],
      ['/_sim/nowhere', html],
      ['/api/cards/none', html],
      ['/sandbox/payment/initiate', html],
    ] as const) {
      const { headers: given } = await get(path, headers);
      expect([path, given.get('content-type')]).toEqual([path, 'application/json']);
    }
  });

  it('explains a 404', async () => {
    for (const path of ['payments/none', 'ipns/none', 'cards/none', 'requests/999']) {
      const answer = await get(`/_sim/ui/${path}`);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toMatch(/role="alert".*<h1>Not found<\/h1>/s);
      // The script must not fill the console when its record is removed.
      const live = await get(`/_sim/ui/${path}`, { 'x-gateway-sim-live': '1' });
      expect([live.status, (await live.text()).includes('Not found')]).toEqual([200, true]);
    }
  });
});

describe('a form that the script sends', () => {
  const script = { 'x-gateway-sim-live': '1' };

  it('gets the next URL without a redirect', async () => {
    await sim.initiate(fields());
    const path = `/_sim/ui/payments/${await newest()}`;
    const answer = await postForm(sim, `${path}/settle`, { outcome: 'approve' }, script);
    expect([answer.status, answer.location, answer.html]).toEqual([204, path, '']);
  });

  it('gets a page that marks the problem, without an error in the console', async () => {
    const { status, html } = await postForm(sim, '/_sim/ui/cards', { ...CARD, amount: '0' }, script);
    expect(status).toBe(200);
    expect(html).toMatch(/role="alert".*amount must be a plain decimal greater than 0/s);
    expect(html).toMatch(
      /<input id="field-amount"[^>]*value="0"[^>]*aria-invalid="true" aria-describedby="field-amount-problem" autofocus/,
    );
    expect(html).toMatch(/id="field-amount-problem"[^>]*>Must be a plain decimal greater than 0 /);
    expect(html.match(/aria-invalid="/g)).toHaveLength(1);
  });
});

describe('payments', () => {
  it('are filtered by status and text', async () => {
    await sim.initiate(fields({ identifier: 'tea-1' }));
    await sim.initiate(fields({ identifier: 'tea-2' }), 'live');
    await sim.initiate(fields({ identifier: 'milk' }));
    await sim.server.parts.payments.settle('milk', { outcome: 'cancel', by: 'control' });
    const shown = async (query: string) => {
      const html = await pageOf(sim, `/_sim?${query}`);
      return ['tea-1', 'tea-2', 'milk'].filter((name) => html.includes(`>${name}</a>`));
    };
    expect(await shown('')).toEqual(['tea-1', 'tea-2', 'milk']);
    expect(await shown('status=canceled')).toEqual(['milk']);
    expect(await shown('text=live')).toEqual(['tea-2']);
    expect(await shown('text=TEA-')).toEqual(['tea-1', 'tea-2']);
    expect(await shown('text=tea-+sandbox&status=pending')).toEqual(['tea-1']);
    expect(await shown('text=coffee')).toEqual([]);
    expect(await shown('cursor=nonsense&status=')).toEqual(['tea-1', 'tea-2', 'milk']);
  });

  it('are counted by status, with a link that keeps the rest of the filter', async () => {
    await sim.initiate(fields());
    const html = await pageOf(sim, '/_sim?status=canceled&text=tea');
    expect(html).toMatch(/href="\/_sim\?status=pending&amp;text=tea"><span class="number">1</);
    expect(html).toMatch(/href="\/_sim\?status=canceled&amp;text=tea" aria-current="true"/);
    expect(html).toMatch(/href="\/_sim\?text=tea"><span class="number">1<\/span> all/);
  });

  it('have the number of warnings in the list, and the warnings on their page', async () => {
    for (let times = 0; times < 2; times++) await sim.initiate(fields());
    const list = await pageOf(sim, '/_sim');
    const page = await pageOf(sim, `/_sim/ui/payments/${await newest()}`);
    expect(list).toMatch(
      /<span class="warning" title="[^"]+">1<span class="unseen"> warning<\/span><\/span>/,
    );
    expect(page.match(/class="warning"/g)).toHaveLength(1);
  });
});

describe('IPNs', () => {
  const ATTENTION = '/_sim?status=needs-attention';
  const namesIn = (html: string) =>
    [...html.matchAll(/<th scope="row"><a [^>]*>(.*?)<\/a>/g)].map(([, name]) =>
      name?.replace(/<[^>]+>/g, ''),
    );

  it('that need attention are a tab of the payments, from which Resend returns', async () => {
    const receiver = await startReceiver();
    sim = await startSim({ ipnSchedule: ['1h'] });
    await approved({ identifier: 'tea', ipn_url: `${receiver.url}/ipn` });
    const milk = await approved({ identifier: 'milk' });
    await sim.initiate(fields({ identifier: 'pending' }));
    const html = await pageOf(sim, ATTENTION);
    expect(namesIn(html)).toEqual(['milk']);
    expect(html.replace(/<[^>]+>/g, '')).toMatch(
      /3 all1 Needs attention1 pending2 succeeded0 canceled0 failed0 expired/,
    );
    expect(html).toContain('unreachable (connection refused), retry scheduled');
    await sim.server.parts.ipns.fire({ payment: 'tea', tamper: requireTamperings('amount') });
    sim.server.parts.faults.set({ route: 'ipn', status: 503 });
    await approved({ identifier: 'by-a-rule' });
    expect(namesIn(await pageOf(sim, ATTENTION))).toEqual(['tea', 'milk']);
    sim.server.parts.faults.clear();
    const from = /name="from" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const answer = await postForm(sim, `/_sim/ui/ipns/${milk}/resend`, { from });
    expect(answer.location).toBe(ATTENTION);
  });

  it('are on the page of their payment, and have their own page without one', async () => {
    const id = await approved();
    const payment = sim.server.parts.payments.require('order-1');
    const movedTo = async (path: string) =>
      (await fetch(`${sim.url}/_sim/ui/ipns${path}`, { redirect: 'manual' })).headers.get('location');
    expect(await movedTo(`/${id}`)).toBe(`/_sim/ui/payments/${payment.id}#step-${id}-1`);
    expect(await movedTo('')).toBe(ATTENTION);
    const receiver = await startReceiver();
    const to = `${receiver.url}/by-hand`;
    const [fired] = await sim.server.parts.ipns.fire({ to, identifier: 'by-hand', amount: '5' });
    const html = await pageOf(sim, `/_sim/ui/ipns/${fired?.id}`);
    expect(html).toMatch(/<h1>IPN of by-hand<\/h1>.*data-state="accepted".*data-verdict="good"/s);
    const requests = await pageOf(sim, '/_sim/ui/requests?route=IPN');
    expect(requests).toContain(`<a href="/_sim/ui/ipns/${fired?.id}"`);
    expect(namesIn(requests)).toEqual([`POST ${to}`, 'POST http://127.0.0.1:9/ipn']);
  });

  it('are resent, sent elsewhere, and forged from the payment', async () => {
    const receiver = await startReceiver();
    const id = await approved({ ipn_url: `${receiver.url}/ipn` });
    const from = `/_sim/ui/payments/${sim.server.parts.payments.require('order-1').id}`;
    const resent = await postForm(sim, `/_sim/ui/ipns/${id}/resend`, { from });
    expect(resent.location).toBe(`${from}#step-${id}-2`);
    expect(await followed(resent)).toContain('Your shop: accepted twice</span>');
    const other = { to: `${receiver.url}/other`, from };
    const elsewhere = await followed(await postForm(sim, `/_sim/ui/ipns/${id}/resend`, other));
    expect(elsewhere).toContain(other.to);
    expect(elsewhere).toContain('Your shop: accepted 3 times</span>');
    const forged = await followed(
      await postForm(sim, `/_sim/ui/ipns/${id}/tamper`, { tamper: 'case', from }),
    );
    expect(forged).toContain('data-state="forgery-accepted">Your shop: forged IPN accepted</span>');
    expect(receiver.requests.map(({ url }) => url)).toEqual(['/ipn', '/ipn', '/other', '/ipn']);
  });

  it('link back to our own pages only', async () => {
    const id = await approved();
    const { id: payment } = sim.server.parts.payments.require('order-1');
    for (const from of [
      '/_sim/ui/ipns?next=https://evil.test',
      'https://evil.test/',
      '//evil.test',
      '/_sim/ui/../../evil',
    ]) {
      const answer = await postForm(sim, `/_sim/ui/ipns/${id}/resend`, { from });
      expect(answer.location).toMatch(new RegExp(`^/_sim/ui/payments/${payment}#step-${id}-\\d$`));
    }
  });

  it('show the signed text, the request and the response', async () => {
    const receiver = await startReceiver([{ status: 500, body: '{"oops":true}' }]);
    const id = await approved({ ipn_url: `${receiver.url}/ipn` });
    const html = await pageOf(sim, `/_sim/ui/ipns/${id}`);
    expect(html).toContain('49.90order-1');
    expect(html).toContain('data[amount] = 49.90');
    expect(html).toContain('data%5Bamount%5D=49.90');
    expect(html).toContain('&quot;oops&quot;: true');
  });
});

describe('cards', () => {
  it('are created, charged, funded, blocked and cancelled', async () => {
    const created = await postForm(sim, '/_sim/ui/cards', CARD);
    const path = created.location ?? '';
    const page = await followed(created);
    expect(page).toMatch(/<summary>\*+\d{4} \(show\)<\/summary>/);
    expect(page).toMatch(
      /<span class="sum">\$247\.50<.*<dt>Initial amount<\/dt><dd>\$250\.00<.*<dd>\$2\.50</s,
    );
    expect(
      await followed(await postForm(sim, `${path}/charge`, { amount: '12.50', details: 'Coffee' })),
    ).toContain('Coffee');
    await postForm(sim, `${path}/fund`, { amount: '5' });
    expect(await followed(await postForm(sim, `${path}/block`))).toContain('class="status inactive"');
    const refused = await postForm(sim, `${path}/charge`, { amount: '1' });
    expect(refused.status).toBe(409);
    expect(refused.html).toContain('role="alert"');
    expect(await followed(await postForm(sim, `${path}/cancel`))).toContain('class="status canceled"');
  });

  it('belong to the selected merchant', async () => {
    const second = await sim.server.parts.merchants.add('Second Shop');
    const created = await postForm(sim, '/_sim/ui/cards', { ...CARD, merchant: second.id });
    expect(await followed(created)).toContain('Second Shop');
    const [card] = sim.server.parts.store.state.cards.values();
    expect(card?.merchantId).toBe(second.id);
  });
});

describe('keys', () => {
  it('are replaced with one click, with a note that the old pair stops working', async () => {
    const html = await followed(await postForm(sim, '/_sim/ui/settings/keys', {}));
    expect(html).not.toContain(sim.publicKey);
    expect(html).toContain('The old pair stops working immediately');
    const { data } = await sim.control<{ data: { publicKey: string }[] }>('/merchants');
    expect(html).toContain(data[0]?.publicKey);
  });
});

describe('verification codes', () => {
  it('are shown as valid, replaced, expired or settled', async () => {
    const { store, payments, checkout, clock } = sim.server.parts;
    await sim.initiate(fields(), 'live');
    const id = await newest();
    const payment = () => store.state.findPayment(id) ?? expect.fail('there is no payment');
    const shown = async () => {
      const html = await pageOf(sim, '/_sim/ui/settings');
      const [, codes = ''] = /id="message-list"(.*?)<\/section>/s.exec(html) ?? [];
      return [...codes.matchAll(/class="status (\w+)"/g)].map(([, found]) => found);
    };
    await checkout.enterEmail(payment(), 'wallet@example.com');
    expect(await shown()).toEqual(['valid']);
    await checkout.resendCode(payment());
    expect(await shown()).toEqual(['valid', 'replaced']);
    await clock.move({ advance: '10m' });
    expect(await shown()).toEqual(['expired', 'replaced']);
    await payments.settle(id, { outcome: 'cancel', by: 'control' });
    expect(await shown()).toEqual(['settled', 'settled']);
  });
});

describe('the banners of every page', () => {
  it('show active faults, which are cleared one by one or together', async () => {
    const { faults } = sim.server.parts;
    faults.set({ route: 'initiate', status: 503 });
    expect(await pageOf(sim, '/_sim')).toMatch(/1 fault active.*status 503/s);
    for (const identifier of ['a', 'b']) faults.set({ route: 'ipn', drop: true, identifier });
    await postForm(sim, '/_sim/ui/settings/clear-faults', { route: 'ipn', identifier: 'a' });
    expect(faults.list.map(({ rule }) => rule.identifier)).toEqual([undefined, 'b']);
    const html = await followed(await postForm(sim, '/_sim/ui/settings/clear-faults', { from: '/_sim' }));
    expect(html).toContain('<h1>Payments</h1>');
    expect(html).not.toMatch(/faults? active/);
  });

  it('show a paused clock, and resume it', async () => {
    const { clock } = sim.server.parts;
    await clock.move({ freeze: '2027-01-01T00:00:00Z' });
    expect(await pageOf(sim, '/_sim')).toMatch(/Clock is paused.*2027-01-01 00:00:00/s);
    const html = await followed(await postForm(sim, '/_sim/ui/settings/resume-clock', { from: '/_sim' }));
    expect([html.includes('<h1>Payments</h1>'), clock.read().frozen]).toEqual([true, false]);
  });
});
