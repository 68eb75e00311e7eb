import { ARTIFACTS, writeAuditReports } from '../audit/artifacts.ts';
import { GatewayError, usage } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import { textMask } from '../contract/secret.ts';
import { readSecret } from '../options/resolve.ts';
import { findServer } from '../store/server-file.ts';
import type { Duration, GatewaySimClient, StateSnapshot } from './api.ts';
import { requireFields, requireObject } from './arguments.ts';
import { cardsOf } from './cards.ts';
import { type ControlServer, controlServer } from './control-client.ts';
import { ipnsOf } from './ipns.ts';
import {
  dialect,
  initiateUrl,
  type MerchantKeys,
  merchantEnvironment,
  requireMerchant,
} from './merchant-client.ts';
import { inOptionNames } from './option-names.ts';
import { paymentsOf } from './payments.ts';
import { LIMIT_MS } from './request.ts';
import { MAX_REPORTED, milliseconds, requireFilter, waitFor, waitForNewest } from './wait.ts';

const NOT_THERE = hint`Start one with: ${command('start')}. Or pass its address to connectGatewaySim(url) or in GATEWAY_SIM_URL.`;

/**
 * Connects to the emulator at the given address, at the address in the environment, or for this folder.
 *
 * @throws GatewayError `no_server`, even without an address: a test that forgot its variable must not reset another
 *   emulator; `unauthorized`; `usage`
 */
export async function connectNamed(
  given: string | undefined,
  options: { controlToken?: string | undefined; tlsCa?: string | undefined; timeout?: Duration | undefined },
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<GatewaySimClient> {
  requireFields('the options', options, ['controlToken', 'tlsCa', 'timeout']);
  const named = given ?? (env['GATEWAY_SIM_URL'] || undefined);
  const found = await findServer(cwd);
  const url = named ?? found?.url;
  if (url === undefined) {
    throw new GatewayError(
      'no_server',
      'no emulator found: connectGatewaySim() got no address, GATEWAY_SIM_URL is not set, and none is running for this folder',
      {
        hint: hint`Pass its address, or run the tests with: ${command('exec', '--', '<your test command>')}`,
      },
    );
  }
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:/.test(url)) {
    throw usage(
      `the address of the emulator must be an absolute http or https address (got ${JSON.stringify(url)})`,
    );
  }
  // The token in the environment is for the emulator that the user names. An untrusted folder must not get it.
  const variable = named === undefined ? undefined : env['GATEWAY_SIM_CONTROL_TOKEN'];
  const inVariable = variable && readSecret(variable, 'GATEWAY_SIM_CONTROL_TOKEN', cwd);
  const controlToken =
    options.controlToken || (named === undefined ? found?.controlToken : inVariable) || null;
  const known = url === found?.url ? found : undefined;
  const tlsCa = options.tlsCa || env['GATEWAY_SIM_TLS_CA'] || known?.tlsCa;
  const limitMs = options.timeout === undefined ? undefined : milliseconds('timeout', options.timeout);
  const connection = { url, controlToken, tlsCa, limitMs };
  const withHints =
    (server: ControlServer): ControlServer['call'] =>
    (...request) =>
      server.call(...request).catch((error: unknown) => {
        const isGone = error instanceof GatewayError && error.code === 'no_server';
        throw inOptionNames(error, isGone ? NOT_THERE : undefined);
      });
  const control = controlServer(connection);
  // The first call has a total time limit. Later calls may take longer.
  const first = controlServer({ ...connection, totalMs: limitMs ?? LIMIT_MS });
  const keys = await requireMerchant({ ...first, call: withHints(first) });
  return clientOf({ ...control, call: withHints(control) }, controlToken, keys, env[ARTIFACTS]);
}

/** @param artifacts the folder for the reports of audits */
export function clientOf(
  server: ControlServer,
  controlToken: string | null,
  known: MerchantKeys,
  artifacts?: string,
): GatewaySimClient {
  let keys = known;
  /** Called after anything that may replace the first merchant's keys. */
  const readKeys = async () => {
    keys = await requireMerchant(server);
  };
  const client: GatewaySimClient = {
    url: server.url,
    initiateUrl: initiateUrl(server.url),
    controlToken,
    get publicKey() {
      return keys.publicKey;
    },
    get secretKey() {
      return keys.secretKey;
    },
    get env() {
      return {
        ...merchantEnvironment(server, keys),
        ...(controlToken !== null && { GATEWAY_SIM_CONTROL_TOKEN: controlToken }),
      };
    },
    payments: paymentsOf(server),
    ipns: ipnsOf(server),
    cards: cardsOf(server),
    wallets: walletsOf(server),
    merchants: merchantsOf(server, readKeys),
    inbox: inboxOf(server),
    requests: requestsOf(server),
    faults: faultsOf(server),
    clock: clockOf(server),
    reset: async () => void (await server.call('POST /reset')),
    snapshot: () => server.call('GET /snapshot') as Promise<StateSnapshot>,
    restore: async (snapshot) => {
      requireObject('the snapshot', snapshot);
      await server.call('PUT /snapshot', { json: snapshot });
      await readKeys();
    },
    listen: async () => {
      const { listen } = await import('./listen.ts');
      return listen(server, () => keys.secretKey);
    },
    audit: async (options) => {
      const [{ AUDIT_OPTION_NAMES }, { audit, unlessAborted }, { egressOf }] = await Promise.all([
        import('../audit/options.ts'),
        import('../audit/audit.ts'),
        import('./egress.ts'),
      ]);
      requireFields('the options of an audit', options, AUDIT_OPTION_NAMES);
      const egress = await unlessAborted(options.cancelled, egressOf(server, options.allowIpnHosts));
      const asked = { ...client, egress, controlToken: server.controlToken ?? controlToken };
      const report = await audit(asked, await dialect.ipn(), options);
      if (artifacts) {
        const mask = textMask([keys.secretKey, asked.controlToken ?? '']);
        await writeAuditReports(artifacts, report, mask(options.ipnUrl)).catch((error: Error) =>
          options.onNotice?.(`${artifacts} is incomplete: ${error.message}`),
        );
      }
      return report;
    },
  };
  return client;
}

function walletsOf(server: ControlServer): GatewaySimClient['wallets'] {
  return {
    list: () => server.call('GET /wallets'),
    fund: (id, amount) => server.call('POST /wallets/:id/fund', { param: { id }, json: { amount } }),
  };
}

function merchantsOf(server: ControlServer, readKeys: () => Promise<void>): GatewaySimClient['merchants'] {
  return {
    list: () => server.call('GET /merchants'),
    create: (name) => server.call('POST /merchants', { json: { name } }),
    generateKeys: async (named) => {
      const { id } = await requireMerchant(server, named);
      const changed = await server.call('POST /merchants/:id/keys', { param: { id } });
      await readKeys();
      return changed;
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
    clear: async (route) => void (await server.call('DELETE /faults', { query: { route } })),
  };
}

function clockOf(server: ControlServer): GatewaySimClient['clock'] {
  return {
    now: () => server.call('GET /clock'),
    advance: async (duration, options = {}) => {
      requireFields('the second argument of advance', options, ['timeout']);
      const { timeout } = options;
      return server.call('POST /clock', {
        json: {
          advance: `${milliseconds('advance', duration)}ms`,
          ...(timeout !== undefined && { timeout: `${milliseconds('timeout', timeout)}ms` }),
        },
      });
    },
    freeze: async (at = 'now') =>
      server.call('POST /clock', { json: { freeze: at instanceof Date ? instant(at) : at } }),
    resume: () => server.call('POST /clock', { json: { resume: true } }),
  };
}

function instant(date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw usage('freeze must be a time (got an invalid Date)');
}

function inboxOf(server: ControlServer): GatewaySimClient['inbox'] {
  const list = () => server.call('GET /inbox');
  return {
    list,
    waitFor: async (filter = {}, options) => {
      requireFields('the filter', requireFilter(filter), ['payment']);
      const { payment } = filter;
      const what = `verification code${payment === undefined ? '' : ` for payment "${payment}"`}`;
      const find = async () =>
        (await list()).data.find(
          ({ paymentId, identifier }) =>
            payment === undefined || paymentId === payment || identifier === payment,
        );
      const instead = async () => {
        const sent = (await list()).data.map(
          ({ identifier, email }) => `a code was sent for "${identifier}" to ${email}`,
        );
        if (!sent.length)
          return ['no code was sent: a live checkout sends one when the customer enters an e-mail'];
        return sent.slice(0, MAX_REPORTED);
      };
      return waitFor({ what, find, instead }, options);
    },
  };
}

function requestsOf(server: ControlServer): GatewaySimClient['requests'] {
  const list: GatewaySimClient['requests']['list'] = async (filter = {}) =>
    server.call('GET /requests', { query: requireFilter(filter) });
  const instead = async () => {
    const { data } = await list({ limit: MAX_REPORTED });
    const made = data.map(({ method, target, status }) => `${method} ${target} returned ${status}`);
    return made.length ? made : ['the service was not called'];
  };
  return {
    list,
    waitFor: async (filter = {}, options) =>
      waitForNewest({ what: 'request', any: 'any path', list, instead }, filter, options),
  };
}
