import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { connectGatewaySim } from '../../src/index.ts';
import { startLibrary } from '../helpers/library.ts';

describe('startGatewaySim({ tls: true })', () => {
  it('works like any other, trusts its own certificate, and leaves nothing behind', async () => {
    const sim = await startLibrary({ tls: true });
    expect(sim.url).toMatch(/^https:/);
    await sim.payments.create({ identifier: 'order-1' });
    const { payment, redirectUrl } = await sim.payments.approve('order-1');
    expect([payment.status, redirectUrl]).toEqual(['succeeded', `${sim.url}/_sim/ui/paid`]);
    const card = await sim.cards.create();
    expect(card.status).toBe('active');
    const { tlsCa } = sim;
    expect(sim.env).toMatchObject({ GATEWAY_SIM_TLS_CA: tlsCa, NODE_EXTRA_CA_CERTS: tlsCa });
    await sim.stop();
    expect(existsSync(tlsCa ?? '')).toBe(false);
  });

  it('is trusted only through its certificate file', async () => {
    const sim = await startLibrary({ tls: true });
    const other = await connectGatewaySim(sim.url, { tlsCa: sim.tlsCa ?? '' });
    expect((await other.payments.list()).data).toEqual([]);
    await expect(connectGatewaySim(sim.url)).rejects.toMatchObject({ code: 'no_server' });
    const again = await startLibrary({ tls: true });
    // Each emulator has its own authority.
    await expect(connectGatewaySim(sim.url, { tlsCa: again.tlsCa ?? '' })).rejects.toMatchObject({
      code: 'no_server',
    });
  });
});
