import { ServiceError } from '../../contract/error-body.ts';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import type { Dialect } from '../../wire/dialect.ts';
import { readFields } from '../body.ts';
import type { App, AppContext, AppParts } from '../environment.ts';
import { answerError, asGatewayError } from '../errors.ts';
import { described, FORM_TYPE, JSON_TYPE, type Operation } from '../operation.ts';
import { noteError } from '../record-requests.ts';

/** Mounts initiate in both modes. CORS is open: one published client calls it from the browser (observed). */
export function mountInitiate(app: App, parts: AppParts): void {
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
    const answer = (c: AppContext) => answerInitiate(c, parts, mode);
    app.post(path, described(operationOf(mode, parts.dialect), answer));
  }
}

export const MODE_WORDS = { live: 'live mode', sandbox: 'test mode' } as const satisfies Record<Mode, string>;

function operationOf(mode: Mode, { messages }: Dialect): Operation {
  return {
    tag: 'Service: payments',
    summary: `Initiate a payment in ${MODE_WORDS[mode]}`,
    description:
      'The public key in the body tells the merchant. Refusals are answered 200 (observed), so look at the body; `--error-status http` answers 422 and 401 instead. Fields are checked first, all of them at once, then the currency, then the key. JSON bodies are taken, too (chosen), and CORS is open (observed).',
    source: 'documented',
    body: {
      types: [FORM_TYPE, 'multipart/form-data', JSON_TYPE],
      schema: messages.InitiateRequest,
      examples: messages.examples.initiate,
    },
    answers: [
      {
        status: 200,
        description: 'A checkout URL for the customer, or why there is none.',
        schemas: [messages.InitiateAnswer, ServiceError],
        headers: { 'Access-Control-Allow-Origin': 'Always `*`.' },
        examples: messages.examples.initiated[mode],
      },
    ],
    errors: [401, 422],
  };
}

async function answerInitiate(c: AppContext, parts: AppParts, mode: Mode): Promise<Response> {
  const { dialect, runtime } = parts;
  const exchange = c.get('exchange');
  try {
    const posted = await readFields(c);
    exchange.requestBody = posted.text;
    const command = dialect.readInitiate(posted, runtime.settings.loose);
    const payment = await parts.payments.initiate(command, mode);
    exchange.paymentId = payment.id;
    exchange.notes = payment.warnings;
    const body = JSON.stringify(dialect.initiateAnswer(payment, runtime.baseUrl()));
    exchange.responseBody = body;
    return c.body(body, 200, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' });
  } catch (thrown) {
    c.header('Access-Control-Allow-Origin', '*');
    const error = asGatewayError(thrown);
    if (error.code === 'internal') throw thrown;
    noteError(c, error, parts);
    return answerError(c, error, dialect, runtime.options.errorStatus);
  }
}
