import { expect, onTestFinished } from 'vitest';
import { kebab } from '../../src/contract/error.ts';
import type { Collection, ReadonlyCollection } from '../../src/domain/collection.ts';
import { createApp } from '../../src/http/app.ts';
import type { AppDependencies } from '../../src/http/environment.ts';
import { resolveOptions } from '../../src/options/resolve.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { seedOfTest } from './seed.ts';

/** An emulator in this process, with its state in memory and a free port. Tests use it over HTTP. */
export interface Sim {
  url: string;
  publicKey: string;
  secretKey: string;
  /** Initiates a payment like a merchant and returns its checkout URL. */
  initiate: (fields: Record<string, string>, mode?: 'sandbox' | 'live') => Promise<string>;
  /** The body of the response to a GET below `/_sim`. */
  control: <Body>(path: string) => Promise<Body>;
  /** The running server, for checks that are not possible over HTTP. */
  server: RunningServer;
}

/** The fields of an order of 49.90 USD, without the public key. No server listens at its addresses: only root can use these ports. */
export const ORDER: Readonly<Record<string, string>> = {
  identifier: 'order-1',
  currency: 'USD',
  amount: '49.90',
  details: 'Two paperbacks',
  ipn_url: 'http://127.0.0.1:9/ipn',
  success_url: 'http://localhost:4/paid',
  cancel_url: 'http://localhost:4/canceled',
  site_logo: 'http://localhost:4/logo.png',
  customer_name: 'Ada',
  customer_email: 'wallet@example.com',
};

/**
 * Starts an emulator that is stopped at the end of the test. An internal error fails the test.
 *
 * @param options the options of `start`. Without a `seed`, ids are the same in every run. With `inMemory: false` and a
 * `dataDir`, the state is stored there
 */
export async function startSim(options: StartOptions = {}): Promise<Sim> {
  const sim = await openSim(options);
  onTestFinished(() => sim[Symbol.asyncDispose]());
  return sim;
}

/** Like `startSim`, but the caller stops it: in concurrent tests, the end of a test is not known here. */
export async function openSim(options: StartOptions = {}): Promise<Sim & AsyncDisposable> {
  const faults: unknown[] = [];
  const values = { port: 0, inMemory: true, seed: seedOfTest(), ...options };
  const server = await startServer(resolveOptions([{ label: (name) => `--${kebab(name)}`, values }]), {
    report: (error) => faults.push(error),
    warn: () => {},
  });
  const { url, publicKey, secretKey } = server;
  return {
    url,
    publicKey,
    secretKey,
    initiate: async (fields, mode = 'sandbox') => {
      const path = mode === 'live' ? '/payment/initiate' : '/sandbox/payment/initiate';
      const body = new URLSearchParams({ public_key: publicKey, ...fields });
      const response = await fetch(url + path, { method: 'POST', body });
      const answer = (await response.json()) as { url?: string };
      expect(answer).toMatchObject({ success: 'ok' });
      return answer.url ?? '';
    },
    control: async <Body>(path: string) => {
      const response = await fetch(`${url}/_sim${path}`);
      return (await response.json()) as Body;
    },
    server,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      expect(faults).toEqual([]);
    },
  };
}

/** Sends a value as JSON to a path below `/_sim`. A text is sent unchanged. */
export async function ask<Body = Record<string, unknown>>(
  { url }: Pick<Sim, 'url'>,
  method: string,
  path: string,
  json?: unknown,
): Promise<{ status: number; body: Body }> {
  const body = typeof json === 'string' ? json : JSON.stringify(json);
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/_sim${path}`, {
    method,
    ...(json !== undefined && { headers, body }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

/** The id in the URL of a checkout. */
export const idOf = (checkout: string) => new URL(checkout).searchParams.get('payment_id') ?? '';

/** Posts a form of a checkout. Redirects are not followed. */
export function enter(
  checkout: string,
  step: string,
  form: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(form);
  const url = checkout.replace('/checkout?', `/checkout/${step}?`);
  return fetch(url, { method: 'POST', redirect: 'manual', headers, body });
}

/** Initiates and approves an order, `ORDER` by default, and waits for the first attempt of its IPN. */
export async function paid(sim: Sim, changes: Readonly<Record<string, string>> = {}) {
  const id = idOf(await sim.initiate({ ...ORDER, ...changes }));
  return sim.server.parts.payments.settle(id, { outcome: 'approve', by: 'control', awaitDelivery: true });
}

/** An app whose use cases always fail, and its error reports. */
export async function brokenApp(): Promise<{ app: ReturnType<typeof createApp>; reported: unknown[] }> {
  const { server } = await startSim();
  const fail = () => {
    throw new Error('the details');
  };
  const broken = new Proxy(
    {} as AppDependencies['state'] & AppDependencies['payments'] & AppDependencies['store'],
    {
      get: (_, name) => (name === 'stored' ? async () => {} : fail()),
    },
  );
  const reported: unknown[] = [];
  return {
    app: createApp({
      ...server.parts,
      state: broken,
      payments: broken,
      store: broken,
      report: (error) => reported.push(error),
    }),
    reported,
  };
}

/** A collection of a running emulator, for records that no request creates. */
export const writable = <Item extends { id: string }>(readonly: ReadonlyCollection<Item>): Collection<Item> =>
  readonly as Collection<Item>;
