import { hc } from 'hono/client';
import { type ErrorCode, GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import type { ControlRoutes } from '../http/control/routes.ts';
import type { ErrorBody } from '../http/errors.ts';

export type { TimelineEntry } from '../domain/timeline.ts';
export type { CardView } from '../http/control/cards.ts';
export type { ClockView } from '../http/control/clock.ts';
export type { DeliveryView } from '../http/control/ipns.ts';
export type { PaymentView } from '../http/control/payments.ts';
export type { InboxMessage, SimEventView } from '../http/control/watch.ts';
export type { InitiateAnswer } from '../wire/initiate.ts';

/** The control API of a running emulator, typed by its routes. */
export type ControlClient = ReturnType<typeof controlClient>;

/** How to reach a running emulator. */
export interface Connection {
  url: string;
  controlToken?: string | undefined;
}

/** A typed client of `/_sim`. References with slashes and the like are encoded by `reference`. */
export function controlClient({ url, controlToken }: Connection) {
  return hc<ControlRoutes>(`${url.replace(/\/+$/, '')}/_sim`, {
    headers: controlToken ? { Authorization: `Bearer ${controlToken}` } : {},
  });
}

/** A running emulator and the way to ask it. */
export interface ControlServer {
  url: string;
  client: ControlClient;
  /** The body of an answer, or the GatewayError that it stands for. */
  ask: <Answer extends TypedResponse<unknown>>(request: Promise<Answer>) => Promise<Successful<Answer>>;
}

/** The emulator at the end of a connection. */
export function controlServer(connection: Connection): ControlServer {
  const url = connection.url.replace(/\/+$/, '');
  return { url, client: controlClient(connection), ask: (request) => answered(request, url) };
}

/**
 * A payment reference (id or identifier, which may hold anything) as a path segment.
 *
 * @throws GatewayError `usage` for the two texts that no address can have as a segment, however they are written
 */
export function reference(text: string): string {
  if (text === '.' || text === '..') {
    throw new GatewayError('usage', `"${text}" cannot be part of an address: name the payment by its id`);
  }
  return encodeURIComponent(text.toWellFormed());
}

/** An answer whose body has a known type. */
export interface TypedResponse<Body> {
  ok: boolean;
  status: number;
  headers: { get(name: string): string | null };
  json(): Promise<Body>;
}

/** The body of an answer that succeeded. */
export type Successful<Answer> = Answer extends TypedResponse<infer Body> ? Body : never;

/**
 * The body of an answer.
 *
 * @throws GatewayError with the code that the emulator answered; `no_server` when nothing answered
 */
export async function answered<Answer extends TypedResponse<unknown>>(
  request: Promise<Answer>,
  url: string,
): Promise<Successful<Answer>> {
  let answer: Answer;
  try {
    answer = await request;
  } catch (error) {
    throw noServer(url, error);
  }
  const isOurs = answer.headers.get('X-Gateway-Sim') !== null;
  const body = isOurs ? await answer.json().catch(() => undefined) : undefined;
  // Without a body the answer comes from another server, or broke off on the way.
  if (body === undefined) throw noServer(url);
  if (answer.ok) return body as Successful<Answer>;
  throw errorFrom(body, url);
}

/** The error that stands in a refused answer; `no_server` when whoever answered is no gateway-sim. */
function errorFrom(body: unknown, url: string): GatewayError {
  const {
    code,
    message,
    errors,
    remedy,
    hint: advice = remedy === undefined ? undefined : [remedy],
  } = (body ?? {}) as Partial<ErrorBody>;
  if (typeof message !== 'string' || code === undefined) return noServer(url);
  return new GatewayError(code as ErrorCode, message, {
    problems: errors ?? [message],
    ...(advice && { hint: advice }),
  });
}

/** Nothing that is a gateway-sim answers at this address. */
export function noServer(url: string, cause?: unknown): GatewayError {
  return new GatewayError('no_server', `no gateway-sim answers at ${url}`, {
    hint: hint`Start one with: ${command('start')}. Or say where it is with ${option('url')} or ${option('dataDir')}.`,
    ...(cause !== undefined && { cause }),
  });
}
