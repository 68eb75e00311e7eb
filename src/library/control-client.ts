import type { IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import { shellWord } from '../contract/curl.ts';
import {
  command,
  ERRORS,
  type ErrorCode,
  GatewayError,
  type Hint,
  hint,
  option,
  usage,
} from '../contract/error.ts';
import type { ControlError } from '../contract/error-body.ts';
import { invisibleIn } from '../contract/invisible.ts';
import { JSON_TYPE } from '../contract/media-types.ts';
import { parseDuration } from '../contract/time.ts';
import { IDENTITY, identityCheck, open, readText } from '../delivery/sender.ts';
import type { ControlApi } from '../http/control/routes.ts';
import { readText as readFileText, reason } from '../system/files.ts';

interface Connection {
  /** The certificates to trust for HTTPS; default: the usual ones. */
  tlsCa?: string | null | undefined;
  /** Real time without a byte, in milliseconds; default: 30 s, and five minutes for slow calls. */
  limitMs?: number | undefined;
  /** Real time for request and response together, in milliseconds; default: no limit. */
  totalMs?: number | undefined;
  /** Cancels open requests. */
  signal?: AbortSignal | undefined;
}

/**
 * Calls that wait for receivers or transfer a whole state, so their responses start late. The emulator itself gives up
 * within five minutes.
 */
const SLOW: readonly string[] = [
  ...['POST /clock', 'POST /ipns', 'POST /ipns/:id/resend', 'POST /payments/:ref/settle'],
  'POST /ipns/:id/diagnose',
  ...['POST /reset', 'GET /snapshot', 'PUT /snapshot'],
];
const SLOW_LIMIT_MS = 300_000;

/** The arguments of a call: the parts that its route has. */
type CallInput<Key extends keyof ControlApi> = {
  [Part in 'param' | 'query' | 'json' as unknown extends ControlApi[Key][Part]
    ? never
    : ControlApi[Key][Part] extends undefined
      ? never
      : Part]: ControlApi[Key][Part];
};

type Arguments<Key extends keyof ControlApi> = keyof CallInput<Key> extends never
  ? [input?: Record<string, never>]
  : [input: CallInput<Key>];

export interface ControlServer extends Pick<Connection, 'tlsCa'> {
  url: string;
  controlToken?: string | null | undefined;
  /**
   * Calls a route of the control API, such as `POST /payments/:ref/settle`.
   *
   * @returns the body of the response
   * @throws GatewayError with the code of the emulator's response; `no_server` if no emulator responded, `timed_out` if
   *   it stopped responding
   */
  call<Key extends keyof ControlApi>(key: Key, ...input: Arguments<Key>): Promise<ControlApi[Key]['answer']>;
  /** Like `call`, for a stream, or for text whose layout matters. The caller limits its size. */
  open<Key extends keyof ControlApi>(key: Key, ...input: Arguments<Key>): Promise<IncomingMessage>;
}

export function controlServer({
  controlToken,
  limitMs,
  ...connection
}: Pick<ControlServer, 'url' | 'controlToken'> & Connection): ControlServer {
  const url = connection.url.replace(/\/+$/, '');
  if (controlToken && !/^[\x21-\x7e]+$/.test(controlToken)) {
    const invisible = invisibleIn(controlToken);
    const which = invisible === undefined ? '' : `: it ${invisible}`;
    throw usage(`the control token contains characters that are not allowed in a header${which}`);
  }
  const authorization = controlToken ? { Authorization: `Bearer ${controlToken}` } : undefined;
  const open = async (key: string, input: LooseInput = {}, totalMs = connection.totalMs) => {
    const [method = 'GET', path = ''] = key.split(' ');
    const answer = await request(`${url}/_sim${addressOf(path, input)}`, {
      ...connection,
      totalMs,
      method,
      limitMs: limitOf(key, input, limitMs),
      headers: { ...authorization, ...(input.json && { 'Content-Type': JSON_TYPE }) },
      body: input.json && written(input.json),
    }).catch((error: unknown) => {
      throw noServer(url, error);
    });
    if (isEmulator(answer) && isSuccess(answer)) return answer;
    const refusal = isEmulator(answer) && (await readJson(answer).catch(() => null));
    answer.destroy();
    throw refusal === false ? foreignServer(url) : (errorFrom(refusal) ?? unlikeGatewaySim(url));
  };
  const call = async (key: string, input: LooseInput = {}) => {
    // A server that sends single bytes must not hold a command.
    const totalMs = connection.totalMs ?? Math.max(limitOf(key, input, limitMs), SLOW_LIMIT_MS);
    const answer = await open(key, input, totalMs);
    // The connection may break, and the response may be from another server.
    const body = await readJson(answer, key === 'GET /snapshot' ? MAX_STATE_BYTES : undefined).catch(
      (error: unknown) => {
        throw error instanceof SyntaxError ? unlikeGatewaySim(url, error) : noServer(url, error);
      },
    );
    if (typeof body !== 'object' || body === null) throw unlikeGatewaySim(url);
    return body;
  };
  return { url, open, call, tlsCa: connection.tlsCa, controlToken } as ControlServer;
}

interface LooseInput {
  param?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  json?: object;
}

/** @throws GatewayError `usage` for values that JSON cannot express, such as a cycle */
function written(json: object): string {
  try {
    return JSON.stringify(json);
  } catch (cause) {
    throw usage(`the request must be JSON: ${(cause as Error).message}`, { cause });
  }
}

/** A call's own `timeout` is also in real time, and the emulator enforces it. */
function limitOf(key: string, { json }: LooseInput, limitMs = LIMIT_MS): number {
  if (!SLOW.includes(key)) return limitMs;
  const { timeout } = (json ?? {}) as { timeout?: string };
  return Math.max(limitMs, SLOW_LIMIT_MS, (parseDuration(timeout) ?? 0) + LIMIT_MS);
}

function addressOf(path: string, { param = {}, query = {} }: LooseInput): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => segment(param[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.append(name, String(value));
  return search.size ? `${filled}?${search}` : filled;
}

/**
 * A reference (id or identifier, which may contain anything) as a path segment.
 *
 * @throws GatewayError `usage` for `.` and `..`, which URLs remove even if they are encoded
 */
function segment(text: string): string {
  if (text === '.' || text === '..') {
    throw usage(`"${text}" cannot be part of an address: use the id of the payment`);
  }
  return encodeURIComponent(String(text).toWellFormed());
}

/** The error in a response; undefined if it is not from an emulator. */
function errorFrom(body: unknown): GatewayError | undefined {
  const { code, message, errors, hint } = (body ?? {}) as Partial<Record<keyof ControlError, unknown>>;
  if (typeof message !== 'string' || typeof code !== 'string' || !Object.hasOwn(ERRORS, code))
    return undefined;
  const problems = Array.isArray(errors) ? errors.filter((one) => typeof one === 'string') : [];
  const safe = safeHint(hint);
  return new GatewayError(code as ErrorCode, message, {
    problems: problems.length ? problems : [message],
    ...(safe && { hint: safe }),
  });
}

/** The name of a command. `exec` is excluded because it runs its arguments. */
const COMMAND = /^(?!exec\b)[a-z]+( [a-z]+)?$/;

/**
 * The hint in a response, which may come from an untrusted server. Users paste what we print, so its commands must be ours,
 * with arguments quoted for a shell, and its text must stay on one line.
 */
function safeHint(value: unknown): Hint | undefined {
  if (!Array.isArray(value)) return undefined;
  const parts = value.map((part: unknown) => {
    if (typeof part === 'string') return part.replace(/\s+/g, ' ');
    const { command: name, args = [], option: flag, value } = (part ?? {}) as Record<string, unknown>;
    if (isText(name) && COMMAND.test(name) && Array.isArray(args) && args.every(isText))
      return command(name, ...args.map(word));
    if (!isText(flag) || !/^[a-zA-Z]+$/.test(flag)) return undefined;
    return option(flag, isText(value) ? word(value) : undefined);
  });
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';
/** Placeholders for the user stay unquoted. */
const word = (text: string) => (/^<[a-z ]+>$/.test(text) ? text : shellWord(text));

/** The error for a server that calls itself gateway-sim but sends unexpected responses. */
export function unlikeGatewaySim(url: string, cause?: unknown): GatewayError {
  return new GatewayError('no_server', `the server at ${url} does not respond like gateway-sim`, {
    hint: hint`If it is another version, restart it with this one. Otherwise, specify the emulator with ${option('url')} or ${option('dataDir')}.`,
    cause,
  });
}

/** The error for an address of another server. */
export function foreignServer(url: string): GatewayError {
  return new GatewayError('no_server', `the server at ${url} is not gateway-sim`, {
    hint: hint`Specify the emulator with ${option('url')} or ${option('dataDir')}, or start one with: ${command('start')}`,
  });
}

/** The error if no gateway-sim, or no trusted one, responds at this address. */
export function noServer(url: string, cause?: unknown): GatewayError {
  // The request was not sent.
  if (cause instanceof GatewayError) return cause;
  if (isUntrusted(cause)) {
    const why = (cause as Error).message;
    return new GatewayError('no_server', `the certificate of ${url} is not trusted: ${why}`, {
      hint: hint`Set the file to trust (tlsCa in the ready event) with ${option('tlsCa', '<file>')} or GATEWAY_SIM_TLS_CA.`,
      cause,
    });
  }
  return new GatewayError('no_server', `no gateway-sim is running at ${url}`, {
    hint: hint`If one runs for another folder, add ${option('url')}. Otherwise, start one with: ${command('start')}`,
    cause,
  });
}

/** Far longer than an emulator needs for a response from memory (chosen). */
export const LIMIT_MS = 30_000;
/** Larger than any list of an emulator (chosen). */
const MAX_JSON_BYTES = 64 * 2 ** 20;
/** The maximum length of a string in Node. */
export const MAX_STATE_BYTES = 2 ** 29 - 24;

/**
 * Sends a request to an emulator. Redirects are not followed, since none of its routes for programs redirects.
 *
 * @returns a response whose body must be read or destroyed
 * @throws GatewayError `timed_out`, `usage` for a file that cannot be read, or the error of the connection
 */
export async function request(
  url: string,
  options: Connection & {
    method?: string;
    headers?: Readonly<Record<string, string>> | undefined;
    body?: string | undefined;
  } = {},
): Promise<IncomingMessage> {
  const { method = 'GET', headers = {}, body, tlsCa, limitMs = LIMIT_MS, totalMs, signal } = options;
  const isSecure = /^https:/i.test(url);
  const agent = isSecure && tlsCa ? await trustingAgent(tlsCa) : undefined;
  const length = String(Buffer.byteLength(body ?? ''));
  return open({
    url,
    method,
    guard: null,
    idleMs: limitMs,
    timeoutMs: totalMs,
    ...(agent && { agent }),
    ...(signal && { signal }),
    headers: [
      IDENTITY,
      ...Object.entries(headers),
      ...(method === 'GET' ? [] : [['Content-Length', length] as const]),
    ],
    ...(body !== undefined && { body }),
  });
}

/** The whole body. @throws if it is incomplete, encoded, too large or not JSON */
export async function readJson(answer: IncomingMessage, maxBytes = MAX_JSON_BYTES): Promise<unknown> {
  return JSON.parse(await readText(answer, maxBytes));
}

export function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Whether the response comes from gateway-sim. */
export function isEmulator({ headers }: IncomingMessage): boolean {
  return headers['x-gateway-sim'] !== undefined;
}

/**
 * An agent that trusts only the certificates in a file. If the file contains the server's own certificate, any host name
 * is accepted: the user who named the file trusts that server.
 *
 * @throws GatewayError `usage` for a file that cannot be read
 */
export async function trustingAgent(tlsCa: string): Promise<Agent> {
  const ca = await readFileText(tlsCa, { follows: true }).catch((cause: unknown) => {
    const why = `the file to trust (--tls-ca) cannot be read from ${tlsCa}: ${reason(cause)}`;
    throw usage(why, { cause });
  });
  const [https, check] = await Promise.all([import('node:https'), identityCheck()]);
  const isNamed = (certificate: Buffer) => ca.replace(/\s/g, '').includes(certificate.toString('base64'));
  return new https.Agent({
    ca,
    // The file may contain a server's certificate without its issuer.
    allowPartialTrustChain: true,
    checkServerIdentity: (host, certificate) =>
      isNamed(certificate.raw) ? undefined : check(host, certificate),
  });
}

/** Whether a connection failed because the server's certificate is not trusted. */
export function isUntrusted(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  return /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/.test(code);
}
