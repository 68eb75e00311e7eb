import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { vi } from 'vitest';
import { Egress } from '../../../src/delivery/egress.ts';
import { startSim } from '../../helpers/sim.ts';
import { mayReach, spelledHost } from '../addresses.ts';
import { pick } from '../hostile-values.ts';
import { trial } from '../trial.ts';

/** The addresses that the mocked DNS lookup returns. */
const resolved = vi.hoisted(() => ({ addresses: [] as string[] }));

vi.mock(import('node:dns'), async (original) => {
  const dns = await original();
  const fake = (_: string, __: unknown, done: (error: null, addresses: LookupAddress[]) => void) =>
    done(
      null,
      resolved.addresses.map((address) => ({ address, family: isIP(address) })),
    );
  return { ...dns, lookup: fake as unknown as typeof dns.lookup };
});

/** The address without brackets, as a resolver returns it. */
const bare = (host: string) => host.replace(/^\[|\]$/g, '');
/** The address in the notation of `URL`. */
const hostOf = (address: string) =>
  new URL(`http://${address.includes(':') ? `[${address}]` : address}/`).hostname;

/** One in this many forbidden addresses is also sent to the emulator, which must reject it. */
const FIRED = 50;

trial(
  'IPN addresses of every family and notation',
  { short: 500, least: 20_000, share: 2 },
  async (budget) => {
    const sim = await startSim();
    const egress = new Egress([], () => undefined);
    const verdict = (url: URL) => {
      try {
        egress.check(url);
        return true;
      } catch {
        return false;
      }
    };
    const connectedTo = (name: string) =>
      new Promise<string[]>((resolve) => {
        egress.lookup(80)(name, { all: true }, (error, found) =>
          resolve(error ? [] : (found as LookupAddress[]).map(({ address }) => address)),
        );
      });

    await budget.repeat(async (number) => {
      const written = `http://${spelledHost(budget.below)}:3000/ipn`;
      if (!URL.canParse(written)) return;
      const url = new URL(written);
      const isAllowed = mayReach(url.hostname);
      if (verdict(url) !== isAllowed)
        budget.fail('outside', `${written} (${url.hostname}) is allowed: ${!isAllowed}`);
      resolved.addresses = Array.from(
        { length: budget.below(4) + 1 },
        () => new URL(`http://${spelledSure(budget.below)}/`).hostname,
      ).map(bare);
      const name = pick(
        ['shop.test', 'rebound.example.com', 'localhost', 'metadata.google.internal'],
        budget.below,
      );
      const reached = await connectedTo(name);
      const right = resolved.addresses.filter((address) => mayReach(hostOf(address)));
      if (reached.join() !== right.join())
        budget.fail('outside', `${name} leads to ${reached} of ${resolved.addresses}`);
      if (isAllowed || number % FIRED) return;
      const body = JSON.stringify({ to: written, amount: '1' });
      const fired = await fetch(`${sim.url}/_sim/ipns`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      budget.requests();
      if (fired.status !== 403 && fired.status !== 422)
        budget.fail('outside', `${written} was answered ${fired.status}`);
    });
  },
);

/** An address that `URL` accepts. */
function spelledSure(below: (number: number) => number): string {
  for (;;) {
    const host = spelledHost(below);
    if (URL.canParse(`http://${host}/`)) return host;
  }
}
