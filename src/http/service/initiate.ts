import { bareHost, isAnyAddress, isLoopback } from '../../contract/address.ts';
import { shellWord } from '../../contract/curl.ts';
import { GatewayError } from '../../contract/error.ts';
import { ServiceError } from '../../contract/error-body.ts';
import { FORM_TYPE, JSON_TYPE } from '../../contract/media-types.ts';
import { NO_ORIGIN, readOrigin } from '../../contract/page-origin.ts';
import { shorten } from '../../contract/text.ts';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import type { Settings } from '../../domain/settings.ts';
import { fieldReader, type PostedFields } from '../../service/body.ts';
import { REJECTIONS, rejectionBody } from '../../service/errors.ts';
import { InitiateAnswer, InitiateRequest, initiateAnswer } from '../../service/initiate.ts';
import { INITIATE_PATHS } from '../../service/names.ts';
import { headersOf, type RequestHeaders, readFields } from '../body.ts';
import type { App, AppContext, AppDependencies, ServerRuntime } from '../environment.ts';
import { asGatewayError, statusOf } from '../errors.ts';
import { described, type Operation } from '../operation.ts';
import { noteError } from '../record-requests.ts';

/** Headers of every initiate response. CORS is open (observed: initiate-cors*). */
const ANSWER_HEADERS = {
  'access-control-allow-origin': '*',
  'content-type': JSON_TYPE,
} as const;

export const MODE_WORDS = { live: 'live mode', sandbox: 'test mode' } as const satisfies Record<Mode, string>;

/**
 * Mounts initiate in both modes. CORS is open because one published client calls it from the browser (observed:
 * initiate-cors*). A preflight is answered, too (chosen: initiate-preflight*).
 */
export function mountInitiate(app: App, parts: AppDependencies): void {
  for (const mode of MODES) {
    const path = INITIATE_PATHS[mode];
    app.options(path, (c) =>
      c.body(null, 204, {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'POST, OPTIONS',
        'Access-Control-Allow-Headers': c.req.header('access-control-request-headers') ?? 'Content-Type',
        'Access-Control-Max-Age': '600',
      }),
    );
    const describe = () => operationOf(mode);
    app.post(
      path,
      described(describe, (c: AppContext) => answerInitiate(c, readFields(c), mode, parts)),
    );
    if (parts.runtime.settings.choices.initiateByGet !== 'taken') continue;
    // The inspected server copies accept it (observed: route-initiate-by-get*).
    const byGet = (): Operation => ({
      ...describe(),
      summary: `Initiate a payment in ${MODE_WORDS[mode]} by GET`,
      description: 'Accepts the fields in the query, if the profile allows it.',
      source: 'observed',
      lines: 'route-initiate-by-get*',
      body: undefined,
      query: InitiateRequest,
    });
    const answerGet = async (c: AppContext) => {
      const undecoded = /\?([^#]*)/.exec(c.req.url)?.[1] ?? '';
      const posted = fieldReader(FORM_TYPE)(Buffer.from(undecoded), FORM_TYPE);
      parts.secrets.learn(posted.fields);
      return answerInitiate(c, Promise.resolve(posted), mode, parts);
    };
    app.get(path, described(byGet, answerGet));
  }
}

function operationOf(mode: Mode): Operation {
  return {
    tag: 'Service: payments',
    summary: `Initiate a payment in ${MODE_WORDS[mode]}`,
    description:
      'The public key in the body identifies the merchant. Errors have status 200, so check the body. With `--error-status http` they have 422, 401 or 403. All fields are checked first, then the currency, then the key. JSON bodies are accepted, too. CORS is open, but only for pages on this machine or a private network, or from an `--allow-origin`; any other page is rejected first.',
    source: 'documented',
    lines: 'initiate-*, field-*, amount-*, currency-*, refusal-*, route-initiate-*',
    body: {
      types: [FORM_TYPE, 'multipart/form-data', JSON_TYPE],
      schema: InitiateRequest,
    },
    answers: [
      {
        status: 200,
        description: 'The checkout URL for the customer, or an error.',
        schemas: [InitiateAnswer, ServiceError],
        headers: { 'Access-Control-Allow-Origin': 'Always `*`.' },
      },
    ],
    errors: [401, 403, 422],
  };
}

/**
 * Initiates a payment, or returns the error, and adds either to the request log.
 *
 * @param posted rejects when the body cannot be read
 */
async function answerInitiate(
  c: AppContext,
  posted: Promise<PostedFields>,
  mode: Mode,
  parts: AppDependencies,
): Promise<Response> {
  const { runtime, payments } = parts;
  const { choices } = runtime.settings;
  const log = c.get('requestLog');
  // A native response with plain headers: Hono would copy them.
  const respond = (status: number, body: string) => new Response(body, { status, headers: ANSWER_HEADERS });
  let read: PostedFields | undefined;
  try {
    const foreign = foreignPage(headersOf(c), runtime);
    if (foreign) {
      // Logs the body even if it is invalid.
      log.requestBody = (await posted.catch(() => undefined))?.text ?? null;
      throw foreign;
    }
    read = await posted;
    log.requestBody = read.text;
    const payment = await payments.initiate(read, mode, log.id);
    const baseUrl = runtime.baseUrl();
    const body = JSON.stringify(initiateAnswer(payment, baseUrl));
    parts.events.sameSite(() => {
      const otherName = otherNameFor(baseUrl, payment.successUrl);
      return otherName && sameSiteNotice(baseUrl, otherName, runtime);
    });
    log.paymentId = payment.id;
    log.notes = payment.warnings;
    log.responseBody = body;
    return respond(200, body);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.code === 'internal') parts.report(error.cause);
    const isRejection = REJECTIONS.has(error.code);
    const isOk = isRejection && runtime.options.errorStatus === 'ok';
    const given = isRejection ? read : undefined;
    const logged = given ? payments.withHint(error, given) : error;
    const rejection = isRejection ? rejectionBody(error, choices) : undefined;
    return respond(isOk ? 200 : statusOf(error), noteError(log, logged, parts, rejection));
  }
}

/**
 * The address of the emulator by its other name on this machine, if by this one the checkout and the shop are the same
 * site, as they are not in production; otherwise undefined. A site has a scheme and a host, and no port.
 */
function otherNameFor(baseUrl: string, successUrl: string): string | undefined {
  const other = new URL(baseUrl);
  if (!URL.canParse(successUrl)) return undefined;
  const shop = new URL(successUrl);
  if (shop.protocol !== other.protocol || shop.hostname !== other.hostname || shop.host === other.host)
    return undefined;
  const names = ['127.0.0.1', 'localhost'];
  if (!names.includes(other.hostname)) return undefined;
  other.hostname = names.find((name) => name !== shop.hostname) ?? '';
  return other.href.replace(/\/$/, '');
}

const sameSiteNotice = (baseUrl: string, otherName: string, { style }: Pick<ServerRuntime, 'style'>) =>
  `the shop and the checkout are both on ${new URL(baseUrl).hostname}, so a cookie with SameSite=Strict survives the return from the checkout. In production it does not: start with ${style.option({ option: 'publicUrl', value: otherName })}`;

/**
 * The error for a browser request from a foreign page (chosen: initiate-foreign-origin*, initiate-null-origin,
 * initiate-cross-site). Clients that are not browsers send neither header.
 */
function foreignPage(
  { origin, 'sec-fetch-site': site, host }: RequestHeaders,
  { settings, style }: Pick<ServerRuntime, 'settings' | 'style'>,
): GatewayError | undefined {
  const allowing = (value: string) => style.option({ option: 'allowOrigin', value });
  const rejected = (message: string) => new GatewayError('forbidden', message);
  if (origin === undefined) {
    const isForeign = site === 'cross-site' || (site === 'same-site' && !isHere(host));
    if (!isForeign) return undefined;
    const fix = `send the Origin header, and allow the origin with ${allowing('<origin>')}`;
    return rejected(`a page on another site may not initiate payments without an Origin: ${fix}`);
  }
  const read = readOrigin(origin);
  if (read === undefined) {
    return rejected(
      `invalid Origin "${shorten(origin)}": expected an origin such as https://shop.example, allowed with ${allowing('<origin>')}`,
    );
  }
  if (isOwnPage(read, settings)) return undefined;
  // The host may contain shell syntax.
  const named = shellWord(read);
  return rejected(
    `a page of ${read} may not initiate payments: if this is your site, start with ${allowing(named)}`,
  );
}

/** @param origin an origin in the format of `readOrigin` */
function isOwnPage(origin: string, { pages, looksLocal }: Settings): boolean {
  if (pages.origins.has(origin)) return true;
  if (origin === NO_ORIGIN) return false;
  const { protocol, hostname } = new URL(origin);
  const name = bareHost(hostname).replace(/\.$/, '');
  if (isLoopback(name) || isAnyAddress(name)) return true;
  // In other schemes the host is not a network name: it may be the id of a browser extension.
  return /^https?:$/.test(protocol) && (pages.hosts.has(name) || looksLocal(origin));
}

/** Whether a request was sent to this machine. For a browser, all of its ports are the same site. */
function isHere(host = ''): boolean {
  return URL.canParse(`http://${host}`) && isLoopback(bareHost(new URL(`http://${host}`).hostname));
}
