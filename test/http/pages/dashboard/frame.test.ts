import { beforeEach, describe, expect, it } from 'vitest';
import { requireTamperings } from '../../../../src/contract/tampering.ts';
import { readCard } from '../../../../src/service/cards.ts';
import { startReceiver } from '../../../helpers/receiver.ts';
import { CARD } from '../../../helpers/records.ts';
import { ORDER, paid, type Sim, startSim, writable } from '../../../helpers/sim.ts';

let sim: Sim;
beforeEach(async () => {
  sim = await startSim({ loose: true });
});

const page = async (path: string) => (await fetch(`${sim.url}/_sim${path}`)).text();

/** An element's text. */
const textOf = (html: string, from: RegExp) =>
  (from.exec(html)?.[1] ?? '').replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');

/** Fills a page with settled payments, whose identifiers have the maximum length. */
async function fullLists(ipn_url: string): Promise<void> {
  for (let number = 0; number < 50; number++) {
    const identifier = `order-2026-11-22-${100 + number}`;
    await paid(sim, { identifier, ipn_url, customer_name: 'Margaret Heafield Hamilton' });
  }
}

const LIGHT_BYTES = 60 * 1_024;

describe('the frame', () => {
  it('has four entries, and marks the current one', async () => {
    const html = await page('/ui/settings');
    const [, entries = ''] = /<nav class="tabs"[^>]*>(.*?)<\/nav>/s.exec(html) ?? [];
    expect([...entries.matchAll(/>([^<>]+)<\/a>/g)].map(([, name]) => name)).toEqual([
      'Payments',
      'Requests',
      'Cards',
      'Settings',
    ]);
    expect(entries).toContain('aria-current="page">Settings<');
    expect(html.match(/<input[^>]* type="search"/g)).toHaveLength(1);
  });

  it('has a search in the list of the page, without a script', async () => {
    const lists = { '': '/_sim', '/ui/settings': '/_sim', '/ui/requests': '/_sim/ui/requests' };
    for (const [path, list] of Object.entries(lists))
      expect(await page(path)).toContain(`<form method="get" action="${list}"><label`);
  });

  it('shows the number of faults and whether the clock was moved or paused', async () => {
    const { clock, faults } = sim.server.parts;
    for (const route of ['initiate', 'cards', 'ipn'] as const) faults.set({ route, latency: '1s' });
    await clock.move({ advance: '29h' });
    const html = await page('');
    expect(textOf(html, /<div id="trouble" role="status">(.*?)<\/div>/s)).toMatch(
      /3 faults active.*Clear all.*Clock is 1 day 5 h/,
    );
    expect(html).toMatch(/<main[^>]* data-now="[\d-]+T/);
    expect(html).not.toContain('data-frozen');
    await clock.move({ freeze: 'now' });
    expect(await page('')).toMatch(/<main[^>]* data-frozen="".*Clock is paused.*>Resume</s);
  });
});

describe('a list', () => {
  it('stays small with URLs of 2,000 characters', async () => {
    const long = 'x'.repeat(1_900);
    const receiver = await startReceiver([{ status: 302, headers: { Location: `/${long}` } }]);
    await fullLists(`${receiver.url}/${long}`);
    for (const path of ['', '?status=needs-attention', '/ui/requests']) {
      const html = await page(path);
      expect(Buffer.byteLength(html), path).toBeLessThan(LIGHT_BYTES);
      expect(html.match(/<tr id=/g), path).toHaveLength(50);
    }
  });

  it('filters requests by route and text', async () => {
    await fetch(await sim.initiate({ ...ORDER, identifier: 'paid-1' }));
    await fetch(`${sim.url}/api/cards`);
    await fetch(`${sim.url}/wp-login.php`);
    const rows = async (query: string) =>
      [...(await page(`/ui/requests${query}`)).matchAll(/<th scope="row"><a [^>]*>(.*?)<\/a>/g)].map(
        ([, name]) => name?.replace(/<[^>]+>/g, ''),
      );
    const [opened, initiated] = ['GET /sandbox/initiate/payment/checkout', 'POST /sandbox/payment/initiate'];
    const [cards, other] = ['GET /api/cards', 'GET /wp-login.php'];
    expect(textOf(await page('/ui/requests'), /<nav id="requests-route"[^>]*>(.*?)<\/nav>/s)).toBe(
      '4 all1 initiate1 checkout1 cards0 IPN1 other',
    );
    expect(await rows('')).toEqual([other, cards, opened, initiated]);
    expect(await rows('?route=cards')).toEqual([cards]);
    expect(await rows('?text=rejected')).toEqual([other, cards]);
    expect(await rows('?text=paid-1')).toEqual([opened, initiated]);
    // Rejected ones only, because the checkout's random id may contain any digits.
    expect(await rows('?text=rejected+401')).toEqual([cards]);
    expect(await page('/ui/requests?text=PUT')).toContain('No matches.');
  });

  it('shows its range and the total, with links to the next and the previous page', async () => {
    await sim.initiate(ORDER);
    const { payments } = sim.server.parts.store.state;
    const [one = expect.fail('no payment')] = payments.values();
    for (let number = 0; number < 1_999; number++) writable(payments).put({ ...one, id: `pay_${number}` });
    const pages = async (path: string) => {
      const html = await page(path);
      const link = (name: string) =>
        new RegExp(`href="/_sim([^"]*)">${name}</a>`).exec(html)?.[1]?.replaceAll('&amp;', '&');
      return { text: textOf(html, /id="pages">(.*?)<\/p>/s), newer: link('Newer'), older: link('Older') };
    };
    const first = await pages('?status=pending');
    expect(first.text).toBe('1-50 of 2,000Older');
    const second = await pages(first.older ?? '');
    expect(second.text).toBe('51-100 of 2,000NewerOlder');
    expect(second.newer).toBe('?status=pending');
    const third = await pages(second.older ?? '');
    expect(third.newer).toBe(first.older);
    expect((await page(first.older ?? '')).match(/<tr id="row-pay_/g)).toHaveLength(50);
  });

  it("shows the age by the emulator's clock", async () => {
    await sim.initiate(ORDER);
    await sim.server.parts.clock.move({ advance: '2h' });
    expect(await page('')).toMatch(/<time datetime="[^"]+" data-ago="" title="[\d-]+ [\d:]+ UTC">2 h ago</);
  });

  it('shows that the response to a delivery was an error', async () => {
    const long = `${'<p>paid</p>'.repeat(4_000)}<b>Fatal error</b>: Uncaught TypeError in ipn.php:3`;
    const receiver = await startReceiver([{}, { body: long }]);
    for (const identifier of ['good', 'wrong'])
      await paid(sim, { identifier, ipn_url: `${receiver.url}/ipn` });
    for (const path of ['', '?text=127.0.0.1']) {
      const states = [...(await page(path)).matchAll(/<span class="status shop \w+">([^<]*)</g)];
      expect([path, states.map(([, state]) => state)]).toEqual([
        path,
        ['failed (200 with an error)', 'accepted'],
      ]);
    }
  });

  it('gives every Resend button a unique name', async () => {
    for (const identifier of ['order-1', 'order-2']) await paid(sim, { identifier });
    const names = [
      ...(await page('?status=needs-attention')).matchAll(/<button[^>]*>(Resend.*?)<\/button>/g),
    ];
    expect(names.map(([, name = '']) => name.replace(/<[^>]+>/g, ''))).toEqual([
      expect.stringMatching(/^Resend IPN of order-2, pay_\w+$/),
      expect.stringMatching(/^Resend IPN of order-1, pay_\w+$/),
    ]);
  });

  it.each([
    ['accepted', {}, 'refused worst', 'forged IPN accepted'],
    ['rejected', { status: 400 }, 'delivered', 'accepted'],
  ])('shows that a forged IPN was %s', async (_, answer, style, words) => {
    const receiver = await startReceiver([{}, answer]);
    await paid(sim, { ipn_url: `${receiver.url}/ipn` });
    const tamper = requireTamperings('amount');
    await sim.server.parts.ipns.fire({ payment: 'order-1', to: `${receiver.url}/ipn`, tamper });
    const badge = `<span class="status shop ${style}">${words}</span>`;
    expect(await page('')).toContain(badge);
    expect(await page('/ui/requests?route=IPN')).toContain(badge);
  });

  it('shows payments that were rejected at initiate, from the request log and counted apart', async () => {
    const initiate = (identifier: string, amount: string) =>
      fetch(`${sim.url}/sandbox/payment/initiate`, {
        method: 'POST',
        body: new URLSearchParams({ ...ORDER, public_key: sim.publicKey, identifier, amount }),
      });
    await initiate('cheap', '-3');
    await initiate('good', '3');
    const list = await page('');
    expect(textOf(list, /<main[^>]*>(.*?)<\/main>/s)).toMatch(
      /1 all0 Needs attention1 pending0 succeeded.*1 initiate request rejected/,
    );
    const [, why = ''] = /href="\/_sim([^"]*)">Show why</.exec(list) ?? [];
    expect(await page(why.replaceAll('&amp;', '&'))).toContain('>cheap</span>');
    expect(sim.server.parts.store.state.payments.size).toBe(1);
    sim.server.parts.events.forget('a test');
    expect(await page('')).not.toContain('request rejected');
  });
});

describe('the search', () => {
  const found = async (list: string, text: string) => {
    const html = await page(`${list}?text=${encodeURIComponent(text)}`);
    return [...html.matchAll(/<th scope="row"><a [^>]*>(.*?)<\/a>/g)].map(([, name]) => name);
  };

  it('finds payments and cards by the values shown on pages', async () => {
    const { store, cards, merchants } = sim.server.parts;
    const ada = { customer_name: 'Ada Lovelace', customer_email: 'ada@analytical.test' };
    await sim.initiate({ ...ORDER, ...ada, identifier: 'iced-tea', amount: '1250.34' });
    await paid(sim, { identifier: 'oat-milk', ipn_url: 'http://127.0.0.1:9/dairy' });
    const fields = { ...CARD, name_on_card: 'Grace Hopper' };
    await cards.issue(merchants.default, readCard({ fields, text: '' }));
    const tea = store.state.findPayment('iced-tea');
    for (const text of [
      'iced-tea',
      'LOVELACE',
      'ada analytical',
      '1250.34',
      '$1,250.34',
      tea?.id ?? '',
      tea?.trx ?? '',
    ])
      expect([text, await found('', text)]).toEqual([text, ['iced-tea']]);
    expect(await found('', 'dairy')).toEqual(['oat-milk']);
    expect(await found('/ui/requests', 'dairy')).toEqual(['POST http://127.0.0.1:9/dairy']);
    expect(await found('/ui/cards', 'hopper')).toEqual(['Travel']);
    const none = await page('?text=nobody');
    expect(none).toContain('No matches.');
    expect(none).toContain('<a href="/_sim/ui/cards?text=nobody">Search in Cards</a>');
    expect(await page('?text=%3Cimg%3E')).not.toContain('<img');
  });

  it('finds requests by path and by identifier, including rejected ones', async () => {
    const initiate = `${sim.url}/sandbox/payment/initiate`;
    const body = { identifier: 'refused-1' };
    await fetch(initiate, { method: 'POST', body: new URLSearchParams(body) });
    const headers = { 'Content-Type': 'application/json' };
    await fetch(initiate, { method: 'POST', headers, body: JSON.stringify({ identifier: 'refused-2' }) });
    await fetch(await sim.initiate({ ...ORDER, identifier: 'paid-1' }));
    const post = 'POST /sandbox/payment/initiate';
    const opened = 'GET /sandbox/initiate/payment/checkout';
    expect(await found('/ui/requests', 'refused-1')).toEqual([post]);
    expect(await found('/ui/requests', 'refused-2')).toEqual([post]);
    expect(await found('/ui/requests', 'paid-1')).toEqual([opened, post]);
    expect(await found('/ui/requests', 'GET checkout')).toEqual([opened]);
  });

  it('finds old records, too', async () => {
    const { parts } = sim.server;
    await sim.initiate({ ...ORDER, identifier: 'the-first' });
    const [payment] = parts.store.state.payments.values();
    for (let number = 0; payment && number < 17_000; number++)
      writable(parts.store.state.payments).put({
        ...payment,
        id: `id-${number}`,
        identifier: `order-${number}`,
      });
    expect(await found('', 'the-first')).toEqual(['the-first']);
    expect(await found('', 'order-6999')).toEqual(['order-6999']);
  });
});

it('an error has the command that helps', async () => {
  expect(await page('/ui/payments/nope')).toMatch(/<p>[^<]+gateway-sim payments<\/p>/);
});
