import { GatewayError } from '../contract/error.ts';
import type { GatewaySimClient, InboxMessage, RecordedRequest, StateSnapshot } from './api.ts';
import { requireObject } from './arguments.ts';
import { cardsOf } from './cards.ts';
import { type Connection, type ControlServer, controlServer } from './control-client.ts';
import { ipnsOf } from './ipns.ts';
import { initiateUrl, merchantEnvironment, requireMerchant } from './merchant-client.ts';
import { paymentsOf } from './payments.ts';
import { describeFilter, milliseconds, requireFilter, waitFor } from './wait.ts';

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
    initiateUrl: initiateUrl(server.url),
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
      list: () => server.call('GET /wallets'),
      fund: (id, amount) => server.call('POST /wallets/:id/fund', { param: { id }, json: { amount } }),
    },
    merchants: {
      list: () => server.call('GET /merchants'),
      create: (name) => server.call('POST /merchants', { json: { name } }),
      generateKeys: async (named) => {
        const { id } = await requireMerchant(server, named);
        const changed = await server.call('POST /merchants/:id/keys', { param: { id } });
        await readKeys();
        return changed;
      },
    },
    inbox: inboxOf(server),
    requests: requestsOf(server),
    faults: faultsOf(server),
    clock: clockOf(server),
    reset: async () => {
      await server.call('POST /reset');
    },
    snapshot: () => server.call('GET /snapshot') as Promise<StateSnapshot>,
    restore: async (snapshot) => {
      requireObject('the snapshot', snapshot);
      await server.call('PUT /snapshot', { json: snapshot });
      await readKeys();
    },
  };
}

function faultsOf(server: ControlServer): GatewaySimClient['faults'] {
  return {
    list: () => server.call('GET /faults'),
    set: async (rule) => {
      requireObject('the fault rule', rule);
      return server.call('POST /faults', { json: rule });
    },
    clear: async (route) => {
      await server.call('DELETE /faults', { query: { route } });
    },
  };
}

function clockOf(server: ControlServer): GatewaySimClient['clock'] {
  return {
    now: () => server.call('GET /clock'),
    advance: async (duration) =>
      server.call('POST /clock', { json: { advance: `${milliseconds('advance', duration)}ms` } }),
    freeze: async (at = 'now') =>
      server.call('POST /clock', { json: { freeze: at instanceof Date ? instant(at) : at } }),
    resume: () => server.call('POST /clock', { json: { resume: true } }),
  };
}

function instant(date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new GatewayError('usage', 'freeze must be a time (got an invalid Date)');
}

function inboxOf(server: ControlServer): GatewaySimClient['inbox'] {
  const list = () => server.call('GET /inbox');
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
    server.call('GET /requests', { query: requireFilter(filter) });
  return {
    list,
    waitFor: async (filter = {}, options) =>
      waitFor<RecordedRequest>(
        {
          what: `request with ${describeFilter(filter) || 'any path'}`,
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
