// Jest 29 with jsdom replaces it by a class without `canParse`.
import { URL } from 'node:url';
import { ARTIFACTS } from './audit/artifacts.ts';
import { command, GatewayError, type Hint, hint, usage } from './contract/error.ts';
import { withoutUndefined } from './contract/sample-values.ts';
import { verify } from './diagnosis/verify.ts';
import type {
  Duration,
  GatewaySim,
  GatewaySimClient,
  IpnReceiver,
  StartGatewaySimOptions,
} from './library/api.ts';
import { clientOf } from './library/client.ts';
import { type ControlServer, controlServer, LIMIT_MS } from './library/control-client.ts';
import { requireMerchant } from './library/merchant-client.ts';
import { milliseconds, requireFields, requireObject } from './library/require.ts';
import { STYLE, startEmulator } from './library/start.ts';
import { readSecret } from './options/resolve.ts';
import { formOf } from './service/encoding.ts';
import { sign } from './service/signature.ts';
import { findServer } from './store/server-file.ts';
import { asyncDisposable } from './system/disposal.ts';

export { type ErrorCode, GatewayError } from './contract/error.ts';
export type * from './library/api.ts';

/**
 * Starts an emulator in a thread of this process, in memory and on a free port by default. You can run any number of
 * them in parallel. Environment variables and configuration files are ignored.
 *
 * @param options the options of `gateway-sim start`, in camelCase
 * @returns the emulator, ready for requests; call `stop()` at the end, or declare it with `await using`
 * @throws GatewayError `usage` for an unknown or wrong option, `port_in_use`, `folder_in_use`, `storage_failed`,
 *   `state_damaged`
 */
export async function startGatewaySim(options: StartGatewaySimOptions = {}): Promise<GatewaySim> {
  requireObject('the options', options);
  // Undefined and null count as omitted.
  const chosen = withoutUndefined(options);
  const values = { port: 0, inMemory: chosen.dataDir === undefined, ...chosen };
  const server = await startEmulator(values).catch((error: unknown) => {
    throw inOptionNames(error);
  });
  const { url, port, dataDir, controlToken, tlsCa, notices } = server;
  let isStopped = false;
  void server.stopped.then(() => {
    isStopped = true;
  });
  const control = withErrors(controlServer(server), (cause) => {
    if (!isStopped) return inOptionNames(cause);
    const message = `this emulator at ${url} was stopped`;
    return new GatewayError('no_server', message, {
      hint: hint`Stop it after its last use, as in afterAll.`,
      cause,
    });
  });
  const client = clientOf(control, controlToken, server, process.env[ARTIFACTS]);
  const receivers: IpnReceiver[] = [];
  const { listen } = client;
  const stop = async () => {
    await server.stop();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  };
  // Extends the client itself: a copy would lose the getters of the current keys.
  return Object.assign(client, {
    port,
    dataDir,
    tlsCa,
    notices,
    listen: async () => {
      const receiver = await listen();
      receivers.push(receiver);
      return receiver;
    },
    stop,
    ...asyncDisposable(stop),
  });
}

/**
 * Connects to an emulator in another process, for example in a global set-up or in a container.
 *
 * @param url its address; default: the variable GATEWAY_SIM_URL, which `gateway-sim exec` sets, or else the emulator that
 *   was started in this folder or a parent folder
 * @param options `controlToken`: required if the emulator does not listen on a loopback address; default: the variable
 *   GATEWAY_SIM_CONTROL_TOKEN. `tlsCa`: the certificate file to trust for HTTPS (in the ready event); default: the
 *   variable GATEWAY_SIM_TLS_CA, or else the certificate of an emulator that was started in this folder or a parent
 *   folder. `timeout`: how long the emulator may send nothing, in real time; default: 30 s, and five minutes for calls
 *   that wait for receivers
 * @throws GatewayError `no_server` if no address is known or no emulator responds, `unauthorized` without the right
 *   token, `timed_out` if the emulator stops responding. All calls of the client throw GatewayErrors, too
 */
export async function connectGatewaySim(
  url?: string,
  options: {
    controlToken?: string | undefined;
    tlsCa?: string | undefined;
    timeout?: Duration | undefined;
  } = {},
): Promise<GatewaySimClient> {
  requireFields('the options', options, ['controlToken', 'tlsCa', 'timeout']);
  const { env } = process;
  const cwd = process.cwd();
  const named = url ?? (env['GATEWAY_SIM_URL'] || undefined);
  const found = await findServer(cwd);
  const address = named ?? found?.url;
  // No default address: a test that forgot its variable must not reset another emulator.
  if (address === undefined) {
    throw new GatewayError(
      'no_server',
      'no emulator found: connectGatewaySim() got no address, GATEWAY_SIM_URL is not set, and none is running for this folder',
      {
        hint: hint`Pass its address, or run the tests with: ${command('exec', '--', '<your test command>')}`,
      },
    );
  }
  if (typeof address !== 'string' || !URL.canParse(address) || !/^https?:/.test(address)) {
    throw usage(
      `the address of the emulator must be an absolute http or https address (got ${JSON.stringify(address)})`,
    );
  }
  // The token in the environment is for the emulator that the user names. An untrusted folder must not get it.
  const variable = named === undefined ? undefined : env['GATEWAY_SIM_CONTROL_TOKEN'];
  const inVariable = variable && readSecret(variable, 'GATEWAY_SIM_CONTROL_TOKEN', cwd);
  const controlToken =
    options.controlToken || (named === undefined ? found?.controlToken : inVariable) || null;
  const known = address === found?.url ? found : undefined;
  const tlsCa = options.tlsCa || env['GATEWAY_SIM_TLS_CA'] || known?.tlsCa;
  const limitMs = options.timeout === undefined ? undefined : milliseconds('timeout', options.timeout);
  const connection = { url: address, controlToken, tlsCa, limitMs };
  const explained = (error: unknown) => {
    const isGone = error instanceof GatewayError && error.code === 'no_server';
    return inOptionNames(error, isGone ? NOT_THERE : undefined);
  };
  // The first call has a total time limit. Later calls may take longer.
  const first = controlServer({ ...connection, totalMs: limitMs ?? LIMIT_MS });
  const keys = await requireMerchant(withErrors(first, explained));
  return clientOf(withErrors(controlServer(connection), explained), controlToken, keys, env[ARTIFACTS]);
}

/**
 * Returns the signature of an IPN as uppercase hexadecimal text. Needs no emulator.
 *
 * @param ipn `amount` is the text of `data[amount]`, exactly as sent
 * @throws GatewayError `usage` without a key, or for an amount or identifier that is not text
 */
export function signIpn(ipn: { amount: string; identifier: string }, secretKey: string): string {
  requireObject('the IPN', ipn);
  const { amount, identifier } = ipn;
  requireText('amount', amount);
  requireText('identifier', identifier);
  requireText('the secret key', secretKey);
  return sign(amount, identifier, secretKey);
}

/**
 * Verifies an IPN. It is valid if its signature is correct and its status is `success`. Needs no emulator.
 *
 * @param bodyOrFields the raw body, form or JSON (recommended), or its fields as `URLSearchParams`, `FormData` or
 *   `req.body`, with nested or flat names
 * @returns `reason` says what is wrong, and is null for a valid IPN. An invalid IPN never throws
 * @throws GatewayError `usage` without a key
 */
export function verifyIpn(
  bodyOrFields: string | object | null | undefined,
  secretKey: string,
): { valid: boolean; reason: string | null } {
  // Anyone could forge a signature with an empty key.
  requireText('the secret key', secretKey);
  const { valid, reasons } = verify(bodyOf(bodyOrFields), { secretKey });
  return { valid, reason: reasons.join('; ') || null };
}

function bodyOf(given: string | object | null | undefined): string {
  if (typeof given !== 'object' || given === null) return String(given ?? '');
  if (ArrayBuffer.isView(given))
    return Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString();
  return Symbol.iterator in given
    ? new URLSearchParams([...(given as FormData)] as [string, string][]).toString()
    : formOf(given).toString();
}

function requireText(what: string, text: unknown): void {
  if (typeof text === 'string' && text !== '') return;
  throw usage(`${what} must be non-empty text (got ${JSON.stringify(text)})`);
}

/** The same server. Its calls throw what `explained` makes of an error. */
function withErrors(server: ControlServer, explained: (error: unknown) => unknown): ControlServer {
  const call: ControlServer['call'] = (...request) =>
    server.call(...request).catch((error: unknown) => {
      throw explained(error);
    });
  return { ...server, call };
}

const NOT_THERE = hint`Start one with: ${command('start')}. Or pass its address to connectGatewaySim(url) or in GATEWAY_SIM_URL.`;

/** The same error with the library's option names in its hint. @param instead a hint that replaces its own */
function inOptionNames(error: unknown, instead?: Hint): unknown {
  if (!(error instanceof GatewayError)) return error;
  const fix = (instead ?? error.hint)?.map((part) =>
    typeof part !== 'string' && 'option' in part ? STYLE.option(part) : part,
  );
  return fix ? error.with({ hint: fix, cause: error.cause }) : error;
}
