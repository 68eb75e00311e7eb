import { describe, expect, it } from 'vitest';
import { pageOf, postForm } from '../../helpers/forms.ts';
import { idOf, ORDER, type Sim, startSim } from '../../helpers/sim.ts';

const CHECKOUT = '/initiate/payment/checkout';
const BROWSER = { accept: 'text/html' };

async function atCode(options = {}): Promise<{ sim: Sim; id: string }> {
  const sim = await startSim(options);
  const id = idOf(await sim.initiate(ORDER, 'live'));
  await postForm(sim, `${CHECKOUT}/email?payment_id=${id}`, { email: 'wallet@example.com' }, BROWSER);
  return { sim, id };
}

const enterForm = (html: string) => /<form class="tip enter".*?<\/form>/s.exec(html)?.[0];

describe('the code in the panel of a live checkout', () => {
  it('is the code that was sent, and its button pays', async () => {
    const { sim, id } = await atCode();
    const form = enterForm(await pageOf(sim, `${CHECKOUT}?payment_id=${id}`)) ?? '';
    const [message] = sim.server.parts.checkout.messages.values();
    const action = /action="([^"]+)"/.exec(form)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const code = /name="code" value="(\d+)"/.exec(form)?.[1] ?? '';
    expect(code).toBe(message?.code);
    const answer = await postForm(sim, action, { code }, BROWSER);
    expect([answer.status, answer.location]).toEqual([303, ORDER['success_url']]);
    expect(sim.server.parts.payments.require(id).status).toBe('succeeded');
  });

  it('is hidden before it is sent, and when it can no longer pay', async () => {
    const { sim, id } = await atCode();
    await sim.server.parts.clock.move({ advance: '11m' });
    const html = await pageOf(sim, `${CHECKOUT}?payment_id=${id}`);
    expect(enterForm(html)).toBeUndefined();
    expect(html).toContain('Read the code with');
    const fresh = await sim.initiate(ORDER, 'live');
    expect(enterForm(await (await fetch(fresh)).text())).toBeUndefined();
  });

  it('is hidden with --no-panel, which shows only the command to read it', async () => {
    const { sim, id } = await atCode({ panel: false });
    const [message] = sim.server.parts.checkout.messages.values();
    const html = await pageOf(sim, `${CHECKOUT}?payment_id=${id}`);
    expect(html).toMatch(/<input [^>]*name="code"/);
    expect(html).toContain('Read the code with');
    expect(message?.code).toMatch(/^\d{6}$/);
    expect(html).not.toContain(message?.code);
  });
});

describe('the tip of a live payment before the e-mail is entered', () => {
  it('names a wallet that can pay, or the command to fund one', async () => {
    const sim = await startSim();
    const tipOf = async (amount: string) => {
      const page = await (await fetch(await sim.initiate({ ...ORDER, amount }, 'live'))).text();
      return (/<p class="tip">(.*?)<\/p>/s.exec(page)?.[1] ?? '')
        .replace(/<[^>]+>/g, '')
        .replace(/\s+/g, ' ');
    };
    expect(await tipOf('49.90')).toContain('wallet@example.com can pay this.');
    const [, wallet] = /wallets fund (\S+) --amount 99999999\.5\b/.exec(await tipOf('99999999.5')) ?? [];
    expect(sim.server.parts.wallets.all.get(wallet ?? '')?.currency).toBe('USD');
  });
});

it('a link to the dashboard is on the page of a pending, settled or unknown payment', async () => {
  const { sim, id } = await atCode();
  const checkout = `${CHECKOUT}?payment_id=${id}`;
  const link = `href="/_sim/ui/payments/${id}" target="_blank" rel="noopener">Open in the dashboard`;
  expect(await pageOf(sim, checkout)).toContain(link);
  await sim.server.parts.payments.settle(id, { outcome: 'cancel', by: 'control' });
  expect(await pageOf(sim, checkout)).toContain(link);
  expect(await pageOf(sim, `${CHECKOUT}?payment_id=none`)).toContain(
    'href="/_sim" target="_blank" rel="noopener">Open in the dashboard',
  );
});
