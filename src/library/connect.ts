import type { GatewaySimClient, InboxMessage, RecordedRequest } from '../api.ts';
import { GatewayError } from '../contract/error.ts';
import { requireObject } from './arguments.ts';
import { cardsOf } from './cards.ts';
import { type Connection, type ControlServer, controlServer, reference } from './control-client.ts';
import { ipnsOf } from './ipns.ts';
import { merchantEnvironment, requireMerchant } from './merchant-client.ts';
import { paymentsOf } from './payments.ts';
import { queryOf } from './query.ts';
import { inWords, milliseconds, waitFor } from './wait.ts';

interface Keys {
  publicKey: string;
  secretKey: string;
}

/**
 * Connects to a running emulator.
 *
 * @throws GatewayError `no_server`, `unauthorized`
 */
export async function connect(connection: Connection): Promise<GatewaySimClient> {
  if (
    typeof connection.url !== 'string' ||
    !URL.canParse(connection.url) ||
    !/^https?:/.test(connection.url)
  ) {
    throw new GatewayError(
      'usage',
      `the address of the emulator must be an absolute http address (got ${JSON.stringify(connection.url)})`,
    );
  }
  const server = controlServer(connection);
  return clientOf(server, connection.controlToken ?? null, await requireMerchant(server, undefined));
}

/** The client of an emulator whose keys are known. */
export function clientOf(server: ControlServer, controlToken: string | null, keys: Keys): GatewaySimClient {
  let { publicKey, secretKey } = keys;
  /** Whatever may give the first merchant another pair. */
  const readKeys = async () => {
    ({ publicKey, secretKey } = await requireMerchant(server, undefined));
  };
  return {
    url: server.url,
    initiateUrl: `${server.url}/sandbox/payment/initiate`,
    controlToken,
    get publicKey() {
      return publicKey;
    },
    get secretKey() {
      return secretKey;
    },
    get env() {
      return {
        ...merchantEnvironment(server.url, { publicKey, secretKey }),
        ...(controlToken !== null && { GATEWAY_SIM_CONTROL_TOKEN: controlToken }),
      };
    },
    payments: paymentsOf(server),
    ipns: ipnsOf(server),
    cards: cardsOf(server),
    wallets: {
      list: () => server.ask(server.client.wallets.$get()),
      fund: (id, amount) =>
        server.ask(
          server.client.wallets[':id'].fund.$post({ param: { id: reference(id) }, json: { amount } }),
        ),
    },
    merchants: {
      list: () => server.ask(server.client.merchants.$get()),
      create: (name) => server.ask(server.client.merchants.$post({ json: { name } })),
      generateKeys: async (named) => {
        const { id } = await requireMerchant(server, named);
        const changed = await server.ask(
          server.client.merchants[':id'].keys.$post({ param: { id: reference(id) } }),
        );
        await readKeys();
        return changed;
      },
    },
    inbox: inboxOf(server),
    requests: requestsOf(server),
    faults: {
      list: () => server.ask(server.client.faults.$get()),
      set: async (rule) => {
        requireObject('the fault rule', rule);
        return server.ask(server.client.faults.$post({ json: rule }));
      },
      clear: async (route) => {
        await server.ask(server.client.faults.$delete({ query: queryOf({ route }) }));
      },
    },
    clock: {
      now: () => server.ask(server.client.clock.$get()),
      advance: async (duration) =>
        server.ask(
          server.client.clock.$post({ json: { advance: `${milliseconds('advance', duration)}ms` } }),
        ),
      freeze: async (at = 'now') =>
        server.ask(server.client.clock.$post({ json: { freeze: at instanceof Date ? instant(at) : at } })),
      resume: () => server.ask(server.client.clock.$post({ json: { resume: true } })),
    },
    reset: async () => {
      await server.ask(server.client.reset.$post());
    },
    snapshot: () => server.ask(server.client.snapshot.$get()),
    restore: async (snapshot) => {
      requireObject('the snapshot', snapshot);
      await server.ask(server.client.snapshot.$put({ json: snapshot }));
      await readKeys();
    },
  };
}

function instant(date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new GatewayError('usage', 'freeze must be a time (got an invalid Date)');
}

function inboxOf(server: ControlServer): GatewaySimClient['inbox'] {
  const list = () => server.ask(server.client.inbox.$get());
  return {
    list,
    waitFor: async ({ payment } = {}, options) =>
      waitFor<InboxMessage>(
        {
          what: `verification code${payment === undefined ? '' : ` for payment "${payment}"`}`,
          look: async () =>
            (await list()).data.find(
              ({ paymentId, identifier }) =>
                payment === undefined || paymentId === payment || identifier === payment,
            ),
          instead: async () => {
            const { data } = await list();
            const sent = data
              .slice(0, 5)
              .map((one) => `a code was sent for "${one.identifier}" to ${one.email}`);
            return sent.length ? sent : ['no code was sent: live checkouts send one after the e-mail'];
          },
        },
        options,
      ),
  };
}

function requestsOf(server: ControlServer): GatewaySimClient['requests'] {
  const list: GatewaySimClient['requests']['list'] = async (filter = {}) =>
    server.ask(server.client.requests.$get({ query: queryOf(filter) }));
  return {
    list,
    waitFor: async (filter = {}, options) =>
      waitFor<RecordedRequest>(
        {
          what: `request with ${inWords(filter) || 'any path'}`,
          look: async () => (await list({ ...filter, limit: 1 })).data[0],
          instead: async () => {
            const { data } = await list({ limit: 5 });
            const made = data.map(
              ({ method, target, status }) => `${method} ${target} was answered ${status}`,
            );
            return made.length ? made : ['the service was not called at all'];
          },
        },
        options,
      ),
  };
}
