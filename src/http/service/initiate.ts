import type { Hono } from 'hono';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import { readFields } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { answerError, asGatewayError, errorBody, notesOf } from '../errors.ts';

/** Mounts initiate in both modes. CORS is open: one published client calls it from the browser (observed). */
export function mountInitiate(app: Hono<AppEnvironment>, parts: AppParts): void {
  for (const mode of MODES) {
    const path = parts.dialect.paths.initiate[mode];
    app.options(path, (c) => {
      c.header('Access-Control-Allow-Origin', '*');
      c.header('Access-Control-Allow-Methods', 'POST, OPTIONS');
      c.header(
        'Access-Control-Allow-Headers',
        c.req.header('access-control-request-headers') ?? 'Content-Type',
      );
      c.header('Access-Control-Max-Age', '600');
      return c.body(null, 204);
    });
    app.post(path, (c) => answerInitiate(c, parts, mode));
  }
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
    exchange.notes = notesOf(error);
    exchange.responseBody = JSON.stringify(errorBody(error, false));
    if (error.code === 'internal') throw thrown;
    return answerError(c, error, runtime.options.errorStatus);
  }
}
