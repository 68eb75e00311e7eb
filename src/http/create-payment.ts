import { describeEffects } from '../contract/active-fault.ts';
import { GatewayError } from '../contract/error.ts';
import { FORM_TYPE } from '../contract/media-types.ts';
import { withPaymentDefaults } from '../contract/sample-values.ts';
import { DEFAULT_THEME, MODES } from '../contract/vocabulary.ts';
import { initiateForm, paymentIdOf, readAnswer } from '../service/merchant.ts';
import { INITIATE_PATHS } from '../service/names.ts';
import type { CallService, ServiceResponse } from './call-service.ts';
import type { AppDependencies } from './environment.ts';
import { jsonOf } from './rejected-initiates.ts';

/** The fields of initiate with valid values, by their wire names. */
export function initiateDefaults({ runtime }: AppDependencies, publicKey: string): Record<string, string> {
  const values = withPaymentDefaults(
    { checkoutTheme: DEFAULT_THEME },
    { baseUrl: runtime.baseUrl(), publicKey },
  );
  return initiateForm(values);
}

/**
 * Initiates a payment through the service's own route, as a merchant would.
 *
 * @param fields the fields of initiate by their wire names, plus `merchant` and `mode`; an empty identifier is generated
 * @returns the id of the payment
 * @throws GatewayError `invalid_fields` with every problem that the service reports
 */
export async function createPayment(
  parts: AppDependencies,
  { merchant: owner, mode: wanted, ...fields }: Readonly<Record<string, string | undefined>>,
  callService: CallService,
): Promise<string> {
  const { merchants } = parts;
  const mode = MODES.find((one) => one === (wanted ?? 'sandbox'));
  if (!mode) throw new GatewayError('invalid_fields', `mode must be one of ${MODES.join(', ')}`);
  const { publicKey } = owner ? merchants.require(owner) : merchants.default;
  const sent = initiateDefaults(parts, publicKey);
  const given = { ...fields, identifier: fields['identifier']?.trim() || undefined };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) sent[name] = value;
  const response = await callService({
    method: 'POST',
    target: INITIATE_PATHS[mode],
    headers: { 'content-type': FORM_TYPE, 'user-agent': 'gateway-sim dashboard' },
    body: new URLSearchParams(sent).toString(),
  });
  const { checkoutUrl, problems } = readAnswer(jsonOf(response.body));
  if (checkoutUrl !== undefined) return paymentIdOf(checkoutUrl);
  throw refusal(problems, response);
}

/** Explains why no payment was created, with the service's response and its notes for the developer. */
function refusal(answered: readonly string[] = [], { status, recorded }: ServiceResponse): GatewayError {
  const { notes = [], fault } = recorded ?? {};
  const known = fault ? [`your fault rule applied: ${describeEffects(fault)}`] : [...answered, ...notes];
  const problems = known.length
    ? [...new Set(known)]
    : [`initiate returned ${status} without a checkout URL`];
  return new GatewayError('invalid_fields', problems[0] ?? '', { problems });
}
