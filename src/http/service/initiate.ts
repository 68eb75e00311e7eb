import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ServiceError } from '../../contract/error-body.ts';
import { LOOSE } from '../../contract/profiles.ts';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import { fieldReader, type PostedFields } from '../../wire/body.ts';
import type { Dialect } from '../../wire/dialect.ts';
import { readFields } from '../body.ts';
import type { App, AppContext, AppParts, RequestLog } from '../environment.ts';
import { asGatewayError, statusOf } from '../errors.ts';
import { described, FORM_TYPE, JSON_TYPE, type Operation } from '../operation.ts';
import { noteError } from '../record-requests.ts';
import { foreignPage, type PageHeaders } from './page-guard.ts';

/** The parts of an initiate request except its body. */
interface InitiateRequest {
  mode: Mode;
  page: PageHeaders;
  log: RequestLog;
}

type Report = (error: unknown) => void;

/** Mounts initiate in both modes. CORS is open because one published client calls it from the browser (observed: initiate-cors*). A preflight is answered, too (chosen: initiate-preflight*). */
export function mountInitiate(app: App, parts: AppParts, report: Report): void {
  for (const mode of MODES) {
    const path = parts.dialect.paths.initiate[mode];
    app.options(path, (c) =>
      c.body(null, 204, {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'POST, OPTIONS',
        'Access-Control-Allow-Headers': c.req.header('access-control-request-headers') ?? 'Content-Type',
        'Access-Control-Max-Age': '600',
      }),
    );
    const requestOf = (c: AppContext): InitiateRequest => ({
      mode,
      page: {
        origin: c.req.header('origin'),
        site: c.req.header('sec-fetch-site'),
        host: c.req.header('host'),
      },
      log: c.get('requestLog'),
    });
    const answer = async (c: AppContext) => {
      const { status, body } = await answerInitiate(readFields(c), requestOf(c), parts, report);
      return c.body(body, status, ANSWER_HEADERS);
    };
    app.post(path, described(operationOf(mode, parts.dialect), answer));
    if (parts.runtime.settings.choices.initiateByGet !== 'taken') continue;
    const answerGet = async (c: AppContext) => {
      const posted = Promise.resolve(fieldReader(FORM_TYPE)(Buffer.from(search(c)), FORM_TYPE));
      const { status, body } = await answerInitiate(posted, requestOf(c), parts, report);
      return c.body(body, status, ANSWER_HEADERS);
    };
    app.get(path, described(getOperationOf(mode, parts.dialect), answerGet));
  }
}

export const MODE_WORDS = { live: 'live mode', sandbox: 'test mode' } as const satisfies Record<Mode, string>;

function operationOf(mode: Mode, { messages }: Pick<Dialect, 'messages'>): Operation {
  return {
    tag: 'Service: payments',
    summary: `Initiate a payment in ${MODE_WORDS[mode]}`,
    description:
      'The public key in the body identifies the merchant. Errors have status 200, so check the body. With `--error-status http` they have 422, 401 or 403. All fields are checked first, then the currency, then the key. JSON bodies are accepted, too. CORS is open, but only for pages on this machine or a private network, or from an `--allow-origin`; any other page is rejected first.',
    source: 'documented',
    lines: 'initiate-*, field-*, amount-*, currency-*, refusal-*, route-initiate-*',
    body: {
      types: [FORM_TYPE, 'multipart/form-data', JSON_TYPE],
      schema: messages.InitiateRequest,
      examples: messages.examples.initiate,
    },
    answers: [
      {
        status: 200,
        description: 'The checkout URL for the customer, or an error.',
        schemas: [messages.InitiateAnswer, ServiceError],
        headers: { 'Access-Control-Allow-Origin': 'Always `*`.' },
        examples: messages.examples.initiated[mode],
      },
    ],
    errors: [401, 403, 422],
  };
}

/** Initiate by GET, which both server copies accept (observed: route-initiate-by-get*). */
function getOperationOf(mode: Mode, { messages }: Dialect): Operation {
  const { body: _, ...operation } = operationOf(mode, { messages });
  return {
    ...operation,
    summary: `Initiate a payment in ${MODE_WORDS[mode]} by GET`,
    description: 'Accepts the fields in the query, if the profile allows it.',
    source: 'observed',
    lines: 'route-initiate-by-get*',
    query: messages.InitiateRequest,
  };
}

/** The undecoded query of a request. */
const search = (c: AppContext): string => /\?([^#]*)/.exec(c.req.url)?.[1] ?? '';

/** Headers of every initiate response. CORS is open (observed: initiate-cors*). */
export const ANSWER_HEADERS = {
  'access-control-allow-origin': '*',
  'content-type': JSON_TYPE,
} as const;

/**
 * Initiates a payment or returns the error, and adds either to the request log. The app and the fast path share it.
 *
 * @param posted rejects when the body cannot be read
 */
export async function answerInitiate(
  posted: Promise<PostedFields>,
  { mode, page, log }: InitiateRequest,
  parts: AppParts,
  report: Report,
): Promise<{ status: ContentfulStatusCode; body: string }> {
  const { dialect, runtime, payments } = parts;
  const { choices } = runtime.settings;
  let read: PostedFields | undefined;
  try {
    const foreign = foreignPage(page, runtime);
    if (foreign) {
      // Logs the body even if it is invalid.
      log.requestBody = (await posted.catch(() => undefined))?.text ?? null;
      throw foreign;
    }
    read = await posted;
    log.requestBody = read.text;
    const payment = await payments.initiate(dialect.readInitiate(read, choices), mode, log.id);
    const body = JSON.stringify(dialect.initiateAnswer(payment, runtime.baseUrl()));
    log.paymentId = payment.id;
    log.notes = payment.warnings;
    log.responseBody = body;
    return { status: 200, body };
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.code === 'internal') report(error.cause);
    const isRefusal = dialect.refusals.has(error.code);
    const isOk = isRefusal && runtime.options.errorStatus === 'ok';
    const given = isRefusal ? read : undefined;
    const logged = given ? payments.explained(error, () => dialect.readInitiate(given, LOOSE)) : error;
    const refusal = isRefusal ? dialect.refusal(error, mode, choices) : undefined;
    return { status: isOk ? 200 : statusOf(error), body: noteError(log, logged, parts, refusal) };
  }
}
