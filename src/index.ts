import type { Duration, GatewaySim, GatewaySimClient, StartGatewaySimOptions } from './library/api.ts';
import { connectNamed } from './library/connect.ts';
import { sign, verify } from './library/signature.ts';
import { start } from './library/start.ts';

export { type ErrorCode, GatewayError } from './contract/error.ts';
export type * from './library/api.ts';

/**
 * Starts an emulator in this process, in memory and on a free port by default. You can run any number of them in
 * parallel. Environment variables and configuration files are ignored.
 *
 * @param options the options of `gateway-sim start`, in camelCase
 * @returns the emulator, ready for requests; call `stop()` at the end, or declare it with `await using`
 * @throws GatewayError `usage` for an unknown or wrong option, `port_in_use`, `folder_in_use`, `storage_failed`,
 *   `state_damaged`
 */
export function startGatewaySim(options: StartGatewaySimOptions = {}): Promise<GatewaySim> {
  return start(options);
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
export function connectGatewaySim(
  url?: string,
  options: {
    controlToken?: string | undefined;
    tlsCa?: string | undefined;
    timeout?: Duration | undefined;
  } = {},
): Promise<GatewaySimClient> {
  return connectNamed(url, options, process.env, process.cwd());
}

/**
 * Returns the signature of an IPN as uppercase hexadecimal text. Needs no emulator.
 *
 * @param ipn `amount` is the text of `data[amount]`, exactly as sent
 * @throws GatewayError `usage` without a key, or for an amount or identifier that is not text
 */
export function signIpn(ipn: { amount: string; identifier: string }, secretKey: string): string {
  return sign(ipn, secretKey);
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
  return verify(bodyOrFields, secretKey);
}
