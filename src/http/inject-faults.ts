import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { MiddlewareHandler } from 'hono';
import { malformedBody, retryAfterSeconds, statusOfFault } from '../contract/active-fault.ts';
import type { FaultRule } from '../contract/fault.ts';
import type { RequestEffect } from '../contract/fault-effects.ts';
import { type FaultRoute, MODES, namesOf } from '../contract/vocabulary.ts';
import { serviceError } from '../service/errors.ts';
import { CARD_PATHS, CHECKOUT_PATHS, INITIATE_PATHS, PAYMENT_PARAMETER } from '../service/names.ts';
import { realPause } from '../system/clock.ts';
import { keepBody, readFields } from './body.ts';
import type { AppContext, AppDependencies, AppEnvironment } from './environment.ts';
import { isControl } from './guard.ts';

/** The logged status of a response that was not sent: "no response", as in the logs of web servers. */
const NO_RESPONSE = 444;
/** Statuses whose responses have no body. */
const BODILESS = new Set([204, 205, 304]);

interface Faulty {
  c: AppContext;
  rule: FaultRule;
  route: FaultRoute | null;
  parts: AppDependencies;
}
type Answer = Promise<Response | undefined>;

/** Applies fault rules to requests to the service. */
export function injectFaults(parts: AppDependencies): MiddlewareHandler<AppEnvironment> {
  const { faults } = parts;
  return async (c, next) => {
    const { path, method } = c.req;
    if (!faults.areOn || method === 'OPTIONS' || isControl(path)) return next();
    const route = serviceRoute(path);
    const needsIdentifier = faults.needsIdentifier({ route, path });
    const identifier = needsIdentifier ? await identifierOf(c, parts) : undefined;
    const rule = faults.take({ route, path, identifier });
    if (!rule) return next();
    c.get('requestLog').fault = rule;
    const faulty = { c, rule, route, parts };
    const handle = async () => {
      await next();
      return undefined;
    };
    return namesOf(REQUEST_EFFECTS)
      .filter((name) => rule[name] !== undefined)
      .reduceRight<() => Answer>((later, name) => () => REQUEST_EFFECTS[name](faulty, later), handle)();
  };
}

/** The route of the service for a path; null for any other path. */
export function serviceRoute(path: string): FaultRoute | null {
  const isBelow = (base: string) => path === base || path.startsWith(`${base}/`);
  if (MODES.some((mode) => path === INITIATE_PATHS[mode])) return 'initiate';
  if (MODES.some((mode) => isBelow(CHECKOUT_PATHS[mode]))) return 'checkout';
  return isBelow(CARD_PATHS.list) ? 'cards' : null;
}

/** The identifier of the payment that a request is about; undefined if there is none. */
async function identifierOf(c: AppContext, { store }: AppDependencies): Promise<string | undefined> {
  const payment = store.state.payments.get(c.req.query(PAYMENT_PARAMETER) ?? '');
  if (payment) return payment.identifier;
  if (c.req.method === 'GET') return undefined;
  keepBody(c);
  // The handler rejects a body that cannot be read.
  const { fields } = await readFields(c).catch(() => ({ fields: { identifier: undefined } }));
  return typeof fields.identifier === 'string' ? fields.identifier : undefined;
}

type Effect = (faulty: Faulty, next: () => Answer) => Answer;

/** What each effect does to a request, like middleware around the later effects and the route. */
const REQUEST_EFFECTS: Readonly<Record<RequestEffect, Effect>> = {
  async latency({ rule, parts: { faults, runtime } }, next) {
    // A stop interrupts the latency.
    await realPause(faults.latencyOf(rule), runtime.stopped);
    return next();
  },

  /** Closes the connection without a response. */
  async drop({ c }) {
    c.get('requestLog').status = NO_RESPONSE;
    const incoming = c.env?.incoming;
    if (!incoming) return new Response(null, { status: NO_RESPONSE });
    incoming.socket.destroy();
    return RESPONSE_ALREADY_SENT;
  },

  status: answerWithFault,
  retryAfter: answerWithFault,

  async malformed({ c }, next) {
    await next();
    const { res } = c;
    const body = malformedBody(await res.text(), res.headers.get('content-type') ?? '');
    const headers = new Headers(res.headers);
    headers.delete('Content-Length');
    headers.set('X-Gateway-Sim-Fault', '1');
    c.res = undefined;
    c.res = new Response(body, { status: res.status, headers });
    return undefined;
  },

  /** Declares the length of the whole body, sends half of it and closes the connection. */
  async truncate({ c }, next) {
    await next();
    const { res } = c;
    const body = Buffer.from(await res.arrayBuffer());
    const half = body.subarray(0, Math.floor(body.length / 2));
    const outgoing = c.env?.outgoing;
    // Hono copies the headers of a previous response.
    c.res = undefined;
    if (!outgoing) {
      c.res = new Response(half, res);
      return undefined;
    }
    c.get('requestLog').status = res.status;
    outgoing.writeHead(res.status, {
      ...Object.fromEntries(res.headers),
      'Content-Length': body.length,
      'X-Gateway-Sim-Fault': '1',
    });
    outgoing.write(half, () => outgoing.socket?.end());
    c.res = RESPONSE_ALREADY_SENT;
    return undefined;
  },
};

async function answerWithFault({ rule, route }: Faulty): Promise<Response> {
  const status = statusOfFault(rule) ?? 500;
  const headers = new Headers({ 'X-Gateway-Sim-Fault': '1' });
  const seconds = retryAfterSeconds(rule);
  if (seconds !== undefined) headers.set('Retry-After', seconds);
  // A client in a browser must be able to read the error.
  if (route === 'initiate') headers.set('Access-Control-Allow-Origin', '*');
  if (BODILESS.has(status)) return new Response(null, { status, headers });
  const message = `a gateway-sim fault rule returns ${status} here on purpose`;
  return Response.json(serviceError({ message, problems: [message] }), { status, headers });
}
