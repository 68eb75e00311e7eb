import type { Hono } from 'hono';
import type { Mode } from '../../contract/vocabulary.ts';
import type { Payment } from '../../domain/state.ts';
import { checkoutUrl } from '../../wire/paths.ts';
import { amountSource, readFields } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { answerError, asGatewayError, errorBody, notesOf } from '../errors.ts';

/** Paths of initiate (documented). */
export const INITIATE_PATHS = {
  live: '/payment/initiate',
  sandbox: '/sandbox/payment/initiate',
} as const satisfies Record<Mode, string>;

/** What a successful initiate answers (documented). */
export interface InitiateAnswer {
  success: 'ok';
  message: string;
  url: string;
}

/** Mounts initiate in both modes. CORS is open: one published client calls it from the browser (observed). */
export function mountInitiate(app: Hono<AppEnvironment>, parts: AppParts): void {
  for (const mode of ['live', 'sandbox'] as const) {
    app.options(INITIATE_PATHS[mode], (c) => {
      c.header('Access-Control-Allow-Origin', '*');
      c.header('Access-Control-Allow-Methods', 'POST, OPTIONS');
      c.header(
        'Access-Control-Allow-Headers',
        c.req.header('access-control-request-headers') ?? 'Content-Type',
      );
      c.header('Access-Control-Max-Age', '600');
      return c.body(null, 204);
    });
    app.post(INITIATE_PATHS[mode], (c) => answerInitiate(c, parts, mode));
  }
}

async function answerInitiate(c: AppContext, parts: AppParts, mode: Mode): Promise<Response> {
  const exchange = c.get('exchange');
  try {
    const { fields, text } = await readFields(c);
    exchange.requestBody = text;
    const payment = await parts.gateway.initiate({ fields, ...amountSource(fields, text) }, mode);
    exchange.paymentId = payment.id;
    exchange.notes = payment.warnings;
    const body = JSON.stringify(answer(payment, parts));
    exchange.responseBody = body;
    return c.body(body, 200, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' });
  } catch (thrown) {
    c.header('Access-Control-Allow-Origin', '*');
    const error = asGatewayError(thrown);
    exchange.notes = notesOf(error);
    exchange.responseBody = JSON.stringify(errorBody(error, false));
    if (error.code === 'internal') throw thrown;
    return answerError(c, error, parts.facts.options.errorStatus);
  }
}

function answer(payment: Payment, { facts }: AppParts): InitiateAnswer {
  return {
    success: 'ok',
    message: 'Payment initiated. Redirect to url.',
    url: checkoutUrl(payment, facts.baseUrl()),
  };
}
