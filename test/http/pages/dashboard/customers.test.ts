import { describe, expect, it } from 'vitest';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { type Sim, startSim } from '../../../helpers/sim.ts';

const PAGE = '/_sim/ui/customers';
const FUND = `${PAGE}/wal_poor_usd/fund`;
const balance = ({ server }: Sim) => server.parts.wallets.all.get('wal_poor_usd')?.balance;

describe('the wallets', () => {
  it('are listed with their balance, each with its own form', async () => {
    const html = await pageOf(await startSim(), PAGE);
    expect(html).toMatch(/id="wallet-wal_poor_usd".*poor@example\.com.*\$1\.00/s);
    expect(html).toContain('Fund<span class="unseen"> poor@example.com USD</span>');
  });

  it('are funded by a form that returns to the wallet', async () => {
    const sim = await startSim();
    const answer = await postForm(sim, FUND, { amount: ' 250.50 ', from: PAGE });
    expect([answer.status, answer.location]).toEqual([303, `${PAGE}#wallet-wal_poor_usd`]);
    expect(balance(sim)).toBe('251.50');
    const away = await postForm(sim, FUND, { amount: '1', from: 'https://evil.test/' });
    expect(away.location).toBe(`${PAGE}#wallet-wal_poor_usd`);
  });

  it('keep an invalid amount in the field of their form', async () => {
    const answer = await postForm(await startSim(), FUND, { amount: '1,50' });
    expect(answer.status).toBe(422);
    expect(answer.html).toContain('amount must be a plain decimal greater than 0');
    expect(answer.html).toContain(
      'id="field-wallet-wal_poor_usd-amount" name="amount" type="text" value="1,50"',
    );
    expect(answer.html.match(/name="amount" type="text" value="100\.00"/g)?.length).toBeGreaterThan(1);
  });
});
