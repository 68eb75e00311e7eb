import { promises as dns } from 'node:dns';
import { writeAuditReports } from '../audit/artifacts.ts';
import type { CardAction, CardMovementKind } from '../contract/card-status.ts';
import { describeFailure } from '../contract/describe-delivery.ts';
import { GatewayError, usage } from '../contract/error.ts';
import { FORM_TYPE } from '../contract/media-types.ts';
import { type Mask, Secrets } from '../contract/secrets.ts';
import { namesOf, OUTCOMES } from '../contract/vocabulary.ts';
import { allowedHosts, Egress, endpointOf, isMetadata, isOwnInterface } from '../delivery/egress.ts';
import { failureOf, MAX_RESPONSE_BYTES, send } from '../delivery/sender.ts';
import { isDeliveryId } from '../diagnosis/pasted-ipn.ts';
import { initiateUrl } from '../service/merchant.ts';
import { CARD_NAMES, INITIATE_NAMES } from '../service/names.ts';
import type {
  AuditOptions,
  AuditReport,
  Cards,
  Delivery,
  GatewaySimClient,
  PaymentOutcome,
  Payments,
  StateSnapshot,
} from './api.ts';
import type { ControlServer } from './control-client.ts';
import { listen } from './ipn-receiver.ts';
import {
  changeCard,
  createCard,
  initiatePayment,
  type MerchantKeys,
  merchantEnvironment,
  readCard,
  requireMerchant,
} from './merchant-client.ts';
import {
  idOf,
  milliseconds,
  requireFields,
  requireFilter,
  requireObject,
  requireReference,
} from './require.ts';
import { criteria, lastSent, MAX_REPORTED, sentSoFar, waitFor, whatHappened } from './wait-for.ts';

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
        requireFields('the payment', fields, [...namesOf(INITIATE_NAMES), 'mode']);
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
        const mask = maskOf(client, server, [url]);
        const said = await visitShop(url, fields, mask);
        const payment = await newest();
        if (payment && payment.id !== before?.id) return payment;
        const problems = [`${mask(url)} made no payment: it ${said}`, ...(await whatHappened(client, {}))];
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
        requireFields('the card', fields, namesOf(CARD_NAMES));
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
      reset: () => call('POST /clock', { json: { reset: true } }),
    },
    listen: () => listen(server, () => keys.secretKey),
    audit: async (options) => {
      const report = await auditReport(client, server, options);
      if (artifacts) {
        const shownUrl = maskOf(client, server, options)(options.ipnUrl ?? options.orderUrl ?? 'the shop');
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
  const egress = await unlessAborted(options.cancelled, egressOf(server));
  return audit({ ...client, egress, mask: maskOf(client, server, options) }, options);
}

/** Masks the secrets of an emulator, and the passwords in options. */
function maskOf(
  { secretKey, controlToken }: Pick<GatewaySimClient, 'secretKey' | 'controlToken'>,
  server: ControlServer,
  options: object,
): Mask {
  const secrets = new Secrets([secretKey, server.controlToken ?? controlToken ?? '']);
  secrets.learn(options);
  return secrets.mask;
}

/**
 * The addresses that a command or test may reach when it sends for an emulator: where the emulator's IPNs may go, except
 * cloud metadata. The emulator itself is excluded.
 */
export async function egressOf(server: ControlServer): Promise<Egress> {
  const { options } = await server.call('GET /status');
  const theirs = allowedHosts({ allowIpnHost: [], ...options });
  const { host, port } = endpointOf(new URL(server.url));
  const { address } = await dns.lookup(host);
  const ownPort = isOwnInterface(address) ? port : undefined;
  // The server might belong to someone else, who must not allow an address that gives out the machine's credentials.
  return new Egress(
    theirs.filter((one) => !isMetadata(one)),
    () => ownPort,
  );
}

/** Real time for a shop to initiate a payment. */
const SHOP_MS = 30_000;

/** Opens an address, or posts a form to it, without following its redirect. @returns its response in words */
async function visitShop(
  url: string,
  fields: Readonly<Record<string, string>> | undefined,
  mask: Mask,
): Promise<string> {
  const form = fields && new URLSearchParams(fields).toString();
  const headers = form === undefined ? [] : ([['Content-Type', FORM_TYPE]] as const);
  const request = { url, headers, guard: null, timeoutMs: SHOP_MS, agent: false } as const;
  try {
    const { status, body } = await send(
      { ...request, method: form === undefined ? 'GET' : 'POST', ...(form !== undefined && { body: form }) },
      MAX_RESPONSE_BYTES,
    );
    return `returned ${status} ${mask(body.toString(), { most: 60 })}`.trim();
  } catch (error) {
    return mask(`did not respond: ${describeFailure(failureOf(error, url), { url })}`);
  }
}

/** The newest genuine IPN of a payment, or the IPN with this id; undefined if there is none yet. */
async function newestGenuine(server: ControlServer, reference: string): Promise<Delivery | undefined> {
  if (isDeliveryId(reference)) return server.call('GET /ipns/:id', { param: { id: reference } });
  const { data } = await sentSoFar(server, { payment: reference });
  return data.find(({ tampered }) => !tampered.length);
}

const isDelivered = ({ state, verdict: { tone } }: Delivery) =>
  state === 'delivered' && (tone === 'good' || tone === 'warning');
