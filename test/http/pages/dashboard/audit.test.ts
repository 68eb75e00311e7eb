import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditRun } from '../../../../src/contract/audit-report.ts';
import type { StartOptions } from '../../../../src/options/start-options.ts';
import { startAuditable } from '../../../helpers/auditable.ts';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { gate } from '../../../helpers/receiver.ts';
import { ask, ORDER } from '../../../helpers/sim.ts';

const FORM = '/_sim/ui/audit';

async function prepared(changed: Parameters<typeof startAuditable>[1] = {}, options: StartOptions = {}) {
  const { sim, shop, asked } = await startAuditable(options, changed);
  const post = (fields: Record<string, string>, headers?: Record<string, string>) =>
    postForm(sim, FORM, fields, headers);
  const start = (json: object) => ask(sim, 'POST', '/audit', json);
  const page = () => pageOf(sim, FORM);
  const state = () => sim.control<AuditRun>('/audit');
  const ended = async () => {
    await expect.poll(async () => (await state()).state).not.toBe('running');
    return state();
  };
  return { sim, shop, asked, post, start, page, state, ended };
}

/** Delays the orders of the shop until they are released. */
function holdOrders(shop: { place: () => Promise<void> }): () => void {
  const { opened, open } = gate();
  const { place } = shop;
  shop.place = async () => {
    await opened;
    await place();
  };
  onTestFinished(open);
  return open;
}

const text = (html: string) =>
  html
    .slice(html.indexOf('<main'))
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

describe('an audit from the dashboard', () => {
  it('shows the numbers of the API: squares, tabs, boxes, mistakes and orders', async () => {
    const { post, page, asked, ended } = await prepared({ isAmount: () => true });
    await post({ ...asked, only: 'amount, merchant, L' });
    const { summary, cases, mistakes, orders } = await ended();
    const html = await page();
    const seen = Object.entries(summary).filter(([, count]) => count > 0);
    expect(seen.length).toBeGreaterThan(1);
    const tabs = html.matchAll(/<span class="number">(\d+)<\/span> <span class="status ([\w-]+)"/g);
    expect([...tabs].map(([, count, verdict]) => [verdict, Number(count)])).toEqual(seen);
    const squares = /<p class="squares".*?<\/p>/s.exec(html)?.[0].match(/class="status [\w-]+"/g);
    expect(squares?.length).toBe(cases.length);
    for (const [, id, count, rows = ''] of html.matchAll(
      /<details id="([\w-]+)-cases"[^>]*><summary><strong>(\d+)<\/strong>(.*?)<\/details>/gs,
    )) {
      const those = cases.filter(
        ({ verdict, mistake }) => verdict === id && (!mistake || verdict === 'pass'),
      );
      expect([id, Number(count), rows.split('<tr').length - 2]).toEqual([id, those.length, those.length]);
    }
    for (const { name, cases: of } of mistakes) {
      const [, rest = ''] = html.split(`id="mistake-${name}"`);
      expect(rest.split('<section class="box"')[0]?.match(/<details id="case-/g)?.length).toBe(of.length);
    }
    expect(text(html)).toContain(`This audit left ${orders} orders`);
  });

  it('runs, and shows its steps, their meaning and the fixes', async () => {
    const { sim, post, page, asked, ended } = await prepared({ isAmount: () => true });
    const before = text(await page());
    expect(before).toContain('Run the audit');
    expect(before).toContain('npx gateway-sim audit --order-cmd');
    const answer = await post({ ...asked, only: 'amount-too-low, amount-too-high', skip: 'amount-too-high' });
    expect([answer.status, answer.location]).toEqual([303, FORM]);
    const run = await ended();
    expect(run).toMatchObject({ state: 'finished', of: 2, orders: 4, error: null });
    expect(run.summary).toMatchObject({ pass: 1, fail: 1 });
    const html = await page();
    const shown = text(html);
    expect(shown).toContain('2 of 2 cases against');
    expect(shown).toContain('This audit left 4 orders in the shop’s database.');
    expect(shown).toMatch(/Sent .*data\[amount\]=0\.49.* The shop answered 200 “OK”, and the order is paid/);
    expect(shown).toMatch(/Amount not compared .*PHP: .*Node: .*Python: .* fail amount-too-low : /);
    expect(shown).toMatch(/Repeat curl .* Copy curl: amount-too-low/);
    expect(html).toMatch(
      /<p class="squares" role="img" aria-label="Cases: 1 pass, 1 fail">(<span[^>]*><\/span>){2}/,
    );
    expect(html).toContain('<details id="pass-cases"><summary>');
    const report = await fetch(`${sim.url}${FORM}/report`);
    expect(report.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w-]+\.html"/);
    expect(await report.text()).toContain('<h1>Not safe: ');
    const filtered = text(await pageOf(sim, `${FORM}?verdict=pass`));
    expect(filtered).toMatch(/1 pass the shop behaved correctly/);
    expect(filtered).not.toContain('Amount not compared');
    // The form keeps the input for another run.
    expect(html).toContain('value="amount-too-low, amount-too-high"');
    expect(html).toContain('<details id="again"><summary>');
    const { html: refused } = await post({ ...asked, only: 'nothing-there' });
    expect(text(refused)).toContain('there is no case, group or class');
    expect(refused).toContain('<details id="again" open');
    expect(text(refused)).toContain('2 of 2 cases against');
  });

  it('shows its progress, rejects a second audit while it runs, and accepts one after it', async () => {
    const { shop, post, start, page, asked, state, ended } = await prepared();
    const open = holdOrders(shop);
    expect((await post({ ...asked, only: 'A' })).status).toBe(303);
    expect(await state()).toMatchObject({ state: 'running', endedAt: null, orders: null, cases: [] });
    expect(text(await page())).toMatch(
      /Running\. .*0 of \d+ cases against .* Started at .* Only one audit runs at a time/,
    );
    const refused = await post({ ...asked, only: 'B' });
    expect(refused.status).toBe(409);
    expect(text(refused.html)).toContain('another audit is running: wait until it ends');
    expect((await start({ ipnUrl: shop.ipnUrl })).status).toBe(409);
    open();
    expect(await ended()).toMatchObject({ state: 'finished', options: { only: ['A'] } });
    expect((await post({ ...asked, only: 'B' })).status).toBe(303);
    expect((await ended()).options).toMatchObject({ only: ['B'] });
  });

  it('is stopped with a button, and cancels its pending payments', async () => {
    const { sim, shop, post, page, asked, state } = await prepared();
    holdOrders(shop);
    await post({ ...asked, only: 'A' });
    expect(text(await page())).toContain('Stop the audit');
    expect((await postForm(sim, `${FORM}/stop`)).location).toBe(FORM);
    expect(await state()).toMatchObject({ state: 'failed', error: 'the audit was stopped', cases: [] });
    expect(text(await page())).toContain('The audit was stopped.');
    expect((await fetch(`${sim.url}${FORM}/report`)).headers.get('content-disposition')).toBeNull();
    expect((await post({ ...asked, only: 'B' })).status).toBe(303);
  });

  it('fills in the addresses of a preset', async () => {
    const { post, asked, ended } = await prepared();
    const { ipnUrl } = asked;
    await post({ ipnUrl, preset: 'plain', only: 'control' });
    const { cases, options } = await ended();
    expect(options).toEqual({ ipnUrl, preset: 'plain', only: ['control'] });
    expect(cases[0]?.why).not.toContain('the order is made up');
  });

  it.each([
    ['ipnUrl', { ipnUrl: 'nowhere' }, 422, 'must be an absolute http or https address'],
    ['the probe', { probeUrl: 'http://localhost:3000/orders' }, 422, '{identifier}'],
    ['ipnUrl', { ipnUrl: 'https://shop.example/ipn' }, 403, '--allow-ipn-host shop.example'],
    ['orderUrl', { orderUrl: 'http://169.254.169.254/' }, 403, 'orderUrl is not allowed: 169.254.169.254'],
    ['a command', { orderCmd: 'id' }, 422, 'unknown field orderCmd'],
  ])('rejects %s %j with an error above the form and keeps the input', async (_, wrong, status, problem) => {
    const { post, page, asked, state } = await prepared();
    const { status: got, html } = await post({ ...asked, orderAmount: '.of-the-order', ...wrong });
    expect(got).toBe(status);
    expect(html).toContain('role="alert"');
    expect(text(html)).toContain(problem);
    expect(html).toContain('value=".of-the-order"');
    expect(await state()).toMatchObject({ code: 'not_found' });
    expect(text(await page())).not.toContain('of cases');
  });

  it('cannot be started from another site', async () => {
    const { post, start, asked, state } = await prepared();
    expect((await post(asked, { Origin: 'https://elsewhere.example' })).status).toBe(403);
    expect((await start({})).status).toBe(422);
    const answer = await start({ ipnUrl: asked.ipnUrl, timeoutMs: 3_000_000_000 });
    expect([answer.status, answer.body['message']]).toEqual([422, expect.stringContaining('timeoutMs')]);
    expect(await state()).toMatchObject({ code: 'not_found' });
  });

  it('never sends requests to the emulator itself', async () => {
    const { sim, post, asked } = await prepared();
    for (const name of ['ipnUrl', 'orderUrl', 'probeUrl']) {
      const own = `http://localhost:${sim.server.port}/_sim/shutdown?{identifier}`;
      const answer = await post({ ...asked, [name]: own });
      expect([answer.status, text(answer.html)]).toEqual([
        403,
        expect.stringContaining(`${name} is not allowed: localhost (127.0.0.1) port`),
      ]);
    }
  });

  it('says first what is missing if it proves nothing', async () => {
    const { sim, post, page, asked, ended } = await prepared();
    await post({ ...asked, orderUrl: '', probeUrl: '', paidWhen: '', only: 'A' });
    expect(await ended()).toMatchObject({
      state: 'finished',
      missing: expect.stringMatching(/^nothing is proven: the order is made up/),
    });
    const first = /<h2 id="run-name">Nothing is proven: the order is made up[^<]*\.<\/h2>/;
    expect(await page()).toMatch(first);
    const report = await (await fetch(`${sim.url}${FORM}/report`)).text();
    expect(report).toContain('<h1>Nothing is proven: the order is made up');
  });

  it('shows the response of a shop as text', async () => {
    const { post, page, asked, ended } = await prepared({
      isSigned: () => true,
      accept: (response) => response.end('<img src=x onerror=alert(1)>'),
    });
    await post({ ...asked, only: 'signature-garbage' });
    expect((await ended()).summary.fail).toBe(1);
    expect(await page()).not.toContain('<img');
  });
});

it('the payments of an audit are folded in the list of payments', async () => {
  const { sim, post, asked, ended } = await prepared();
  await post({ ...asked, only: 'A' });
  await ended();
  const count = sim.server.parts.payments.all.size;
  await sim.initiate(ORDER);
  const folded = await pageOf(sim, '/_sim');
  expect(text(folded)).toContain(`${count} from audits, show`);
  expect(folded.match(/<tr data-key/g)).toHaveLength(1);
  expect(text(folded)).toMatch(/1 all 1 pending 0 succeeded/);
  const shown = await pageOf(sim, '/_sim?audits=show');
  expect(text(shown)).toContain(`${count} from audits, hide`);
  expect(text(shown)).toContain(' audit ');
  expect(shown.match(/<tr data-key/g)?.length).toBe(Math.min(50, count + 1));
});
