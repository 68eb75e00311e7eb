import type { Duration, GatewaySim, GatewaySimClient, StartGatewaySimOptions } from './library/api.ts';
import { connectNamed } from './library/connect.ts';
import { sign, verify } from './library/signature.ts';
import { start } from './library/start.ts';

export { type ErrorCode, GatewayError } from './contract/error.ts';
export type * from './library/api.ts';

/**
 * Starts an emulator in this process: in memory and on a free port unless the options say otherwise. Any number of
 * them can run side by side. Environment variables and configuration files are not looked at.
 *
 * @param options those of `gateway-sim start`, in camelCase
 * @returns resolves when it answers; `stop()` it, or declare it with `await using`
 * @throws GatewayError `usage` for an unknown or wrong option, `port_in_use`, `folder_in_use`, `storage_failed`,
 *   `state_damaged`
 */
export function startGatewaySim(options: StartGatewaySimOptions = {}): Promise<GatewaySim> {
  return start(options);
}

/**
 * Connects to an emulator that runs somewhere else, as one in a global set-up or in a container.
 *
 * @param url its address; default: the variable GATEWAY_SIM_URL, which `gateway-sim exec` sets, else the emulator that
 *   was started in this folder or one above it
 * @param options `controlToken`: what it asks for when it does not listen on a loopback address; default: the variable
 *   GATEWAY_SIM_CONTROL_TOKEN. `tlsCa`: the file to trust where it speaks https (in its ready event); default: the
 *   variable GATEWAY_SIM_TLS_CA, else the one of an emulator that was started in this folder or one above it. `timeout`:
 *   for the emulator to send something, in real time; default: 30 s, and five minutes for what waits for receivers
 * @throws GatewayError `no_server` when none is named or nothing answers there, `unauthorized` without the right token,
 *   `timed_out` for one that falls silent. Every call of the client fails with a GatewayError, too
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
 * The signature of an IPN, as upper-case hexadecimal text. No emulator is needed.
 *
 * @param ipn `amount` is the text of `data[amount]`, exactly as it is sent
 * @throws GatewayError `usage` without a key, or for an amount or an identifier that is no text
 */
export function signIpn(ipn: { amount: string; identifier: string }, secretKey: string): string {
  return sign(ipn, secretKey);
}

/**
 * Checks an IPN: valid is one whose signature is right and whose status is `success`. No emulator is needed.
 *
 * @param bodyOrFields the raw body, form or JSON (the surest); or its fields, as `URLSearchParams`, `FormData` or
 *   `req.body` have them, names nested or not
 * @returns `reason` says what is wrong, and is null where nothing is. What was received never throws
 * @throws GatewayError `usage` without a key
 */
export function verifyIpn(
  bodyOrFields: string | object | null | undefined,
  secretKey: string,
): { valid: boolean; reason: string | null } {
  return verify(bodyOrFields, secretKey);
}
