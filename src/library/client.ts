import { promises as dns } from 'node:dns';
import { writeAuditReports } from '../audit/artifacts.ts';
import { secretMask } from '../audit/gateway.ts';
import type { CardAction, CardMovementKind } from '../contract/card-status.ts';
import { describeFailure, outcomeOf } from '../contract/describe-delivery.ts';
import { didYouMean, GatewayError, hint, usage } from '../contract/error.ts';
import { isDeliveryId } from '../contract/pasted-ipn.ts';
import { shorten } from '../contract/text.ts';
import { parseDuration } from '../contract/time.ts';
import { OUTCOMES } from '../contract/vocabulary.ts';
import { allowedHosts, Egress, endpointOf, isMetadata, isOwnInterface } from '../delivery/egress.ts';
import { failureOf, MAX_RESPONSE_BYTES, send } from '../delivery/sender.ts';
import { asyncDisposable } from '../system/disposal.ts';
import { receiveOnLoopback } from '../system/loopback-receiver.ts';
import { pause, performance } from '../system/real-time.ts';
import { formOf } from '../wire/encoding.ts';
import type {
  AuditOptions,
  AuditReport,
  Cards,
  Delivery,
  DeliveryFilter,
  Duration,
  GatewaySimClient,
  IpnReceiver,
  PaymentFilter,
  PaymentOutcome,
  Payments,
  ReceivedIpn,
  ReceiverAnswer,
  RecordedRequest,
  Reference,
  StateSnapshot,
  WaitOptions,
} from './api.ts';
import type { ControlServer } from './control-client.ts';
import {
  changeCard,
  createCard,
  dialect,
  initiatePayment,
  initiateUrl,
  isRejectedInitiate,
  type MerchantKeys,
  merchantEnvironment,
  readCard,
  requireMerchant,
} from './merchant-client.ts';

/** Maximum number of records in the report of what happened instead of what a test waited for. */
const MAX_REPORTED = 5;

/** @param artifacts the folder for the reports of audits */
export function clientOf(
  server: ControlServer,
  controlToken: string | null,
  known: MerchantKeys,
  artifacts?: string,
): GatewaySimClient {
  const { call } = server;
  let keys = known;
  /** Called after anything that may replace the first merchant's keys. */
  const readKeys = async () => {
    keys = await requireMerchant(server);
  };
  const paymentAt = (reference: string) => ({ ref: requireReference('a payment', reference) });
  const settle =
    (outcome: PaymentOutcome): Payments['approve'] =>
    async (reference, options = {}) =>
      call('POST /payments/:ref/settle', { param: paymentAt(reference), json: { outcome, ...options } });
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, settle(outcome)])) as Pick<
    Payments,
    PaymentOutcome
  >;
  const ipnAt = (id: string) => ({ id: requireReference('an IPN', id) });
  const cardAt = (id: string) => ({ id: requireReference('a card', id) });
  const change =
    (action: CardAction): Cards['activate'] =>
    async (id) =>
      changeCard(server, cardAt(id).id, action);
  const move =
    (type: CardMovementKind): Cards['charge'] =>
    async (id, movement) =>
      call('POST /cards/:id/transactions', { param: cardAt(id), json: { type, ...movement } });
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
    payments: {
      list: async (filter = {}) => call('GET /payments', { query: requireFilter(filter) }),
      get: async (reference) => call('GET /payments/:ref', { param: paymentAt(reference) }),
      create: async (fields = {}) => {
        requireFields('the payment', fields, [...dialect.initiateFields, 'mode']);
        const { mode, ...values } = fields;
        const { id } = await initiatePayment(server, mode === 'live' ? 'live' : 'sandbox', values);
        const { timeline: _, ...payment } = await client.payments.get(id);
        return payment;
      },
      waitFor: async (filter = {}, options) => {
        const what = `payment with ${criteria(filter) || 'any identifier'}`;
        const find = async () => (await client.payments.list({ ...filter, limit: 1 })).data[0];
        return waitFor(what, find, () => whatHappened(client, filter), options);
      },
      visit: async (url, fields) => {
        const newest = async () => (await client.payments.list({ limit: 1 })).data[0];
        const before = await newest();
        const said = await visitShop(url, fields);
        const payment = await newest();
        if (payment && payment.id !== before?.id) return payment;
        const problems = [`${url} made no payment: it ${said}`, ...(await whatHappened(client, {}))];
        throw new GatewayError('check_failed', problems.join('\n  '), { problems });
      },
      ...outcomes,
    },
    ipns: {
      list: async (filter = {}) => call('GET /ipns', { query: requireFilter(filter) }),
      get: async (id) => call('GET /ipns/:id', { param: ipnAt(id) }),
      waitFor: async (filter = {}, options) => {
        const what = `IPN with ${criteria(filter) || 'any state'}`;
        const find = async () => (await sentSoFar(server, { ...filter, limit: 1 })).data[0];
        return waitFor(what, find, () => lastSent(server, filter.payment), options);
      },
      resend: async (id, options = {}) => call('POST /ipns/:id/resend', { param: ipnAt(id), json: options }),
      assertDelivered: async (reference, options = {}) => {
        const { diagnose = true, ...wait } = options;
        const ref = idOf(reference);
        const settled = await waitFor(
          `answered IPN of "${ref}"`,
          async () => {
            const sent = await newestGenuine(server, ref);
            return sent && (sent.state !== 'pending' || sent.verdict.tone === 'bad') ? sent : undefined;
          },
          () => lastSent(server, ref),
          wait,
        );
        if (isDelivered(settled)) return settled;
        const wasAnswered = settled.attempts.at(-1)?.responseStatus;
        if (diagnose && wasAnswered) {
          // The verdict has the result. Some IPNs cannot be diagnosed.
          await call('POST /ipns/:id/diagnose', {
            param: { id: settled.id },
            json: { automatic: true },
          }).catch(() => undefined);
        }
        const after = await client.ipns.get(settled.id);
        // A gateway sends an IPN once: one that is accepted the second time is lost.
        const { cause, fix } = (isDelivered(after) ? settled : after).verdict;
        throw new GatewayError('check_failed', [cause, fix].filter(Boolean).join('\n  '), {
          problems: [cause, ...(fix === null ? [] : [fix])],
        });
      },
      diagnose: async (reference, options = {}) => {
        requireFields('the second argument of diagnose', options, ['probeUrl', 'paidWhen']);
        return call('POST /ipns/:id/diagnose', { param: { id: idOf(reference) }, json: options });
      },
      fire: async (options) => {
        requireObject('the IPN', options);
        const answer = await call('POST /ipns', { json: options });
        return 'data' in answer ? answer.data : [answer];
      },
    },
    cards: {
      list: async (filter = {}) => call('GET /cards', { query: requireFilter(filter) }),
      get: async (id) => readCard(server, cardAt(id).id),
      create: async (fields = {}) => {
        requireFields('the card', fields, dialect.cardFields);
        return createCard(server, fields);
      },
      activate: change('activate'),
      block: change('block'),
      cancel: change('cancel'),
      charge: move('charge'),
      fund: move('fund'),
    },
    wallets: {
      list: () => call('GET /wallets'),
      fund: (id, amount) => call('POST /wallets/:id/fund', { param: { id }, json: { amount } }),
    },
    merchants: {
      list: () => call('GET /merchants'),
      create: (name) => call('POST /merchants', { json: { name } }),
      generateKeys: async (reference) => {
        const { id } = await requireMerchant(server, reference);
        const changed = await call('POST /merchants/:id/keys', { param: { id } });
        await readKeys();
        return changed;
      },
    },
    inbox: {
      list: () => call('GET /inbox'),
      waitFor: async (filter = {}, options) => {
        requireFields('the filter', requireFilter(filter), ['payment']);
        const { payment } = filter;
        const what = `verification code${payment === undefined ? '' : ` for payment "${payment}"`}`;
        const sent = async () => (await call('GET /inbox')).data;
        const isWanted = ({ paymentId, identifier }: Awaited<ReturnType<typeof sent>>[number]) =>
          payment === undefined || paymentId === payment || identifier === payment;
        const instead = async () => {
          const others = (await sent()).map(
            ({ identifier, email }) => `a code was sent for "${identifier}" to ${email}`,
          );
          if (others.length) return others.slice(0, MAX_REPORTED);
          return ['no code was sent: a live checkout sends one when the customer enters an e-mail'];
        };
        return waitFor(what, async () => (await sent()).find(isWanted), instead, options);
      },
    },
    requests: {
      list: async (filter = {}) => call('GET /requests', { query: requireFilter(filter) }),
      waitFor: async (filter = {}, options) => {
        const what = `request with ${criteria(filter) || 'any path'}`;
        const find = async () => (await client.requests.list({ ...filter, limit: 1 })).data[0];
        const instead = async () => {
          const { data } = await client.requests.list({ limit: MAX_REPORTED });
          const made = data.map(({ method, target, status }) => `${method} ${target} returned ${status}`);
          return made.length ? made : ['the service was not called'];
        };
        return waitFor(what, find, instead, options);
      },
    },
    faults: {
      list: () => call('GET /faults'),
      set: async (rule) => {
        requireObject('the fault rule', rule);
        return call('POST /faults', { json: rule });
      },
      clear: async (route) => void (await call('DELETE /faults', { query: { route } })),
    },
    clock: {
      now: () => call('GET /clock'),
      advance: async (duration, options = {}) => {
        requireFields('the second argument of advance', options, ['timeout']);
        const { timeout } = options;
        return call('POST /clock', {
          json: {
            advance: `${milliseconds('advance', duration)}ms`,
            ...(timeout !== undefined && { timeout: `${milliseconds('timeout', timeout)}ms` }),
          },
        });
      },
      freeze: async (at = 'now') => {
        if (!(at instanceof Date)) return call('POST /clock', { json: { freeze: at } });
        if (Number.isNaN(at.getTime())) throw usage('freeze must be a time (got an invalid Date)');
        return call('POST /clock', { json: { freeze: at.toISOString() } });
      },
      resume: () => call('POST /clock', { json: { resume: true } }),
    },
    listen: () => listen(server, () => keys.secretKey),
    audit: async (options) => {
      const report = await auditReport(client, server, options);
      if (artifacts) {
        const secrets = { secretKey: keys.secretKey, controlToken: server.controlToken ?? controlToken };
        const shownUrl = secretMask(secrets)(options.ipnUrl ?? options.orderUrl ?? 'the shop');
        await writeAuditReports(artifacts, report, shownUrl).catch((error: Error) =>
          options.onNotice?.(`${artifacts} is incomplete: ${error.message}`),
        );
      }
      const { missing, summary } = report;
      // A test that counts failures would pass.
      if (missing !== null && summary.fail === 0) throw usage(missing);
      return report;
    },
    reset: async () => void (await call('POST /reset')),
    snapshot: () => call('GET /snapshot') as Promise<StateSnapshot>,
    restore: async (snapshot) => {
      requireObject('the snapshot', snapshot);
      await call('PUT /snapshot', { json: snapshot });
      await readKeys();
    },
  };
  return client;
}

/**
 * Runs an audit. Unlike `GatewaySimClient.audit`, it returns a report that proves nothing.
 *
 * @throws GatewayError `usage`, or `forbidden` for a shop that is not on a loopback or private address
 */
export async function auditReport(
  client: GatewaySimClient,
  server: ControlServer,
  options: AuditOptions,
): Promise<AuditReport> {
  const [{ AUDIT_OPTION_NAMES }, { audit, unlessAborted }] = await Promise.all([
    import('../audit/options.ts'),
    import('../audit/audit.ts'),
  ]);
  requireFields('the options of an audit', options, AUDIT_OPTION_NAMES);
  const egress = await unlessAborted(options.cancelled, egressOf(server, options.allowIpnHosts));
  const controlToken = server.controlToken ?? client.controlToken;
  return audit({ ...client, egress, controlToken }, await dialect.ipn(), options);
}

/**
 * The addresses that a command or test may reach when it sends for an emulator: where the emulator's IPNs may go, except
 * cloud metadata, and what the user allows. The emulator itself is excluded.
 *
 * @param allowed the allowed hosts, as for `--allow-ipn-host`
 */
export async function egressOf(server: ControlServer, allowed: readonly string[] = []): Promise<Egress> {
  const { options } = await server.call('GET /status');
  const theirs = allowedHosts({ allowIpnHost: [], ...options });
  const { host, port } = endpointOf(new URL(server.url));
  const { address } = await dns.lookup(host);
  const ownPort = isOwnInterface(address) ? port : undefined;
  // The server might belong to someone else. Only the user may allow an address that gives out the machine's
  // credentials.
  return new Egress([...theirs.filter((one) => !isMetadata(one)), ...allowed], () => ownPort);
}

/** @param secretKey returns the current key, which can be replaced */
async function listen(server: ControlServer, secretKey: () => string): Promise<IpnReceiver> {
  const received: ReceivedIpn[] = [];
  let answer: Parameters<IpnReceiver['respondWith']>[0] = 200;
  const { url, close } = await receiveOnLoopback(async (request) => {
    const body = request.body.toString();
    const { valid, reasons } = dialect.verify(body, { secretKey: secretKey() });
    const reason = reasons.join('; ') || null;
    const { method, url, headers } = request;
    const ipn: ReceivedIpn = { method, url, headers, body, fields: fieldsOf(body), valid, reason };
    received.push(ipn);
    const chosen = requireAnswer(typeof answer === 'function' ? await answer(ipn) : answer);
    return { status: chosen.status ?? 200, headers: Object.entries(chosen.headers ?? {}), body: chosen.body };
  });
  return {
    url,
    received,
    waitFor: async (filter = {}, options) => {
      const wanted = Object.entries(requireFilter(filter)).filter(([, value]) => value !== undefined);
      const what = ['IPN', ...wanted.map(([name, value]) => `with ${name} "${value}"`)].join(' ');
      const find = async () =>
        received.findLast(({ fields }) => wanted.every(([name, value]) => fields[name] === value));
      const instead = async () =>
        received.length
          ? received.slice(-MAX_REPORTED).map(describeReceived)
          : [`${url} received nothing`, ...(await lastSent(server))];
      return waitFor(what, find, instead, options);
    },
    respondWith: (next) => {
      if (typeof next !== 'function') requireAnswer(next);
      answer = next;
    },
    close,
    ...asyncDisposable(close),
  };
}

/** @throws GatewayError `usage` for anything that is not a response */
function requireAnswer(given: ReceiverAnswer): Exclude<ReceiverAnswer, number> {
  const answer = typeof given === 'number' ? { status: given } : given;
  requireFields('the response', answer, ['status', 'headers', 'body']);
  const { status = 200 } = answer;
  if (Number.isInteger(status) && status >= 200 && status <= 599) return answer;
  throw usage(`status must be a whole number from 200 to 599 (got ${status})`);
}

/** Fields by their form names, even for JSON. */
function fieldsOf(body: string): Record<string, string> {
  try {
    return Object.fromEntries(formOf(JSON.parse(body)));
  } catch {
    return Object.fromEntries(new URLSearchParams(body));
  }
}

/*
 * Waiting, and what happened instead.
 */

/** Less than the five-second limit of most test runners, whose errors give no reason (chosen). */
const DEFAULT_LIMIT_MS = 4_000;
const POLL_MS = 20;

/**
 * Polls until `find` returns a value, in real time.
 *
 * @param instead what happened instead, one line each, for the error
 * @throws GatewayError `timed_out`, with what happened instead; `usage` for an invalid timeout; the reason of the signal
 *   if it is aborted
 */
async function waitFor<Found>(
  what: string,
  find: () => Promise<Found | undefined>,
  instead: () => Promise<string[]>,
  options: WaitOptions = {},
): Promise<Found> {
  requireFields('the second argument of waitFor', options, ['timeout', 'signal']);
  const { signal } = options;
  const limit = options.timeout === undefined ? DEFAULT_LIMIT_MS : milliseconds('timeout', options.timeout);
  const deadline = performance.now() + limit;
  for (;;) {
    signal?.throwIfAborted();
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() >= deadline) break;
    const wait = Math.min(POLL_MS, Math.max(deadline - performance.now(), 0));
    await pause(wait);
  }
  const message = `there was no ${what} within ${limit / 1_000} s`;
  const problems = [message, ...(await instead())];
  throw new GatewayError('timed_out', problems.join('\n  '), {
    problems,
    hint: hint`Check what happened instead, or wait longer: waitFor(filter, { timeout: '10s' }).`,
  });
}

/** A filter in words, such as `status "succeeded", identifier "order-1"`. */
function criteria(filter: object): string {
  return Object.entries(requireFilter(filter))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} "${value}"`)
    .join(', ');
}

/** The payments with the wanted identifier, or else the newest payments, and the rejected initiates. */
async function whatHappened(
  { payments, requests }: GatewaySimClient,
  { identifier }: PaymentFilter,
): Promise<string[]> {
  const newest = async (filter: PaymentFilter) =>
    (await payments.list({ ...filter, limit: MAX_REPORTED })).data;
  const wanted = identifier === undefined ? [] : await newest({ identifier });
  const reported = (wanted.length ? wanted : await newest({})).map(
    (one) => `payment "${one.identifier}" is ${one.status} (${one.mode}, ${one.id})`,
  );
  const rejected = (await requests.list({ limit: 200 })).data
    .filter((one) => isRejectedInitiate(one) || isUnknownPath(one))
    .slice(0, MAX_REPORTED)
    .map(({ method, target, status, notes }) => {
      const reason = notes.join('; ') || 'no reason was recorded';
      return `${method} ${target} was rejected (${status}): ${reason}`;
    });
  return [...(reported.length ? reported : ['no payment was initiated']), ...rejected];
}

/** Real time for a shop to initiate a payment. */
const SHOP_MS = 30_000;

/** Opens an address, or posts a form to it, without following its redirect. @returns its response in words */
async function visitShop(url: string, fields: Readonly<Record<string, string>> | undefined): Promise<string> {
  const form = fields && new URLSearchParams(fields).toString();
  const headers =
    form === undefined ? [] : ([['Content-Type', 'application/x-www-form-urlencoded']] as const);
  const request = { url, headers, guard: null, timeoutMs: SHOP_MS, agent: false } as const;
  try {
    const { status, body } = await send(
      { ...request, method: form === undefined ? 'GET' : 'POST', ...(form !== undefined && { body: form }) },
      MAX_RESPONSE_BYTES,
    );
    return `answered ${status} ${shorten(body.toString())}`.trim();
  } catch (error) {
    return `did not respond: ${describeFailure(failureOf(error, url), { url })}`;
  }
}

/** Whether the merchant's code used a wrong path. */
function isUnknownPath({ method, status }: RecordedRequest): boolean {
  return method === 'POST' && (status === 404 || status === 405);
}

/** Treats a payment that does not exist yet as one without IPNs. */
async function sentSoFar(server: ControlServer, query: DeliveryFilter) {
  return server.call('GET /ipns', { query }).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'not_found') return { data: [] };
    throw error;
  });
}

/** The results of the newest IPNs, of one payment or of all, one line each. */
async function lastSent(server: ControlServer, payment?: string): Promise<string[]> {
  const { data } = await sentSoFar(server, { payment, limit: MAX_REPORTED });
  if (data.length) return data.map(describeDelivery);
  if (payment === undefined) return ['no IPN was sent'];
  const found = await server.call('GET /payments/:ref', { param: { ref: payment } }).catch(() => undefined);
  if (!found) return [`there is no payment "${payment}"`];
  return [`payment "${found.identifier}" is ${found.status}: no IPN was sent for it`];
}

/** The newest genuine IPN of a payment, or the IPN with this id; undefined if there is none yet. */
async function newestGenuine(server: ControlServer, reference: string): Promise<Delivery | undefined> {
  if (isDeliveryId(reference)) return server.call('GET /ipns/:id', { param: { id: reference } });
  const { data } = await sentSoFar(server, { payment: reference });
  return data.find(({ tampered }) => !tampered.length);
}

const isDelivered = ({ state, verdict: { tone } }: Delivery) =>
  state === 'delivered' && (tone === 'good' || tone === 'warning');

function describeDelivery(delivery: Delivery): string {
  const { id, identifier, state, url, forwardedTo, attempts, note, verdict } = delivery;
  const last = attempts.at(-1);
  const outcome = last ? outcomeOf(last) : 'not attempted yet';
  const count = attempts.length > 1 ? `, ${attempts.length} attempts` : '';
  const destination = forwardedTo === null ? `to ${url}` : `forwarded to ${forwardedTo}`;
  const said =
    verdict.tone === 'bad' ? [verdict.cause, verdict.fix].filter(Boolean).join(' ') : (note ?? outcome);
  return `IPN ${id} of "${identifier}" ${destination} is ${state}${count}: ${said}`;
}

function describeReceived({ method, url, fields, reason }: ReceivedIpn): string {
  return `${method} ${url} had identifier "${fields['identifier'] ?? ''}": ${reason ?? 'valid'}`;
}

/*
 * Checks for callers in plain JavaScript. In TypeScript, the types do the same. All throw a GatewayError `usage`.
 */

/** Checks a reference that becomes part of a path. @param what the noun in the error, such as `a payment` */
function requireReference(what: string, text: string): string {
  if (typeof text === 'string' && text !== '') return text;
  throw usage(`${what} must be an id or identifier (got ${JSON.stringify(text)})`);
}

/** The id in a record, or the reference itself. */
function idOf(reference: Reference): string {
  return requireReference('a payment or an IPN', typeof reference === 'object' ? reference?.id : reference);
}

/** Rejects anything but an object. */
export function requireObject(what: string, value: object): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw usage(`${what} must be an object (got ${JSON.stringify(value)})`);
}

/** Rejects anything but an object, and unknown fields, with the nearest known name. */
export function requireFields(what: string, fields: object, known: readonly string[]): void {
  requireObject(what, fields);
  for (const name of Object.keys(fields))
    if (!known.includes(name)) throw usage(`unknown field ${name}${didYouMean(name, known)}`);
}

/** Returns a filter. Rejects anything but an object, and a filter that contains a timeout. */
function requireFilter<Filter extends object>(filter: Filter): Filter {
  requireObject('the filter', filter);
  if (!('timeout' in filter)) return filter;
  throw usage('timeout is not a filter: pass it in the second argument, { timeout }');
}

/** A duration in milliseconds. */
export function milliseconds(name: string, duration: Duration): number {
  const value = typeof duration === 'number' ? duration : parseDuration(duration);
  if (value !== undefined && Number.isFinite(value) && value >= 0) return value;
  throw usage(
    `${name} must be milliseconds or text such as 500ms, 2s, 1m or 1h (got ${JSON.stringify(duration)})`,
  );
}
