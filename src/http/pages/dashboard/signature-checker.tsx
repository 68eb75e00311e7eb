import { requireFireable } from '../../../contract/delivery.ts';
import { GatewayError } from '../../../contract/error.ts';
import { ipnBodyIn, isDeliveryId } from '../../../contract/pasted-ipn.ts';
import type { Verification } from '../../../wire/dialect.ts';
import type { AppParts } from '../../environment.ts';
import { Section, Warnings } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { MerchantField } from './new-payment.tsx';
import { type FormValues, type PageRenderer, PLACES, pageAt } from './page.tsx';
import { verifyFor, Working } from './signature.tsx';
import { Languages } from './verdict.tsx';

/** Checks a pasted IPN, and shows the result on the same page. */
export const signatureCheckerPage: PageRenderer = ({ parts, query }) => {
  const content = (
    <>
      <h1>Signature checker</h1>
      <section class="box" id="check" aria-label="IPN to check">
        <Form to={PLACES.signature.path} submit="Check signature" look="primary">
          <Field
            name="body"
            label="IPN"
            rows={6}
            value={query['body']}
            required
            wide
            placeholder="status=success&identifier=…"
            hint={
              <>
                The body that your receiver got (a form or JSON), the output of <code>ipn listen</code>, a
                whole request, a curl command, or the id of an IPN.
              </>
            }
          />
          <Field
            name="signature"
            label="Signature that your code computed (empty: the signature in the IPN)"
            value={query['signature']}
            wide
          />
          <MerchantField parts={parts} any="automatic" chosen={query['merchant']} />
        </Form>
      </section>
      {query['body'] !== undefined && <Checked parts={parts} given={query} />}
    </>
  );
  return { ...pageAt('signature', content), isStill: true };
};

/** @throws GatewayError `invalid_fields` if nothing was pasted, `not_found` for an unknown IPN or merchant */
function Checked({ parts, given }: { parts: AppParts; given: FormValues }) {
  const { body, merchant } = pasted(parts, given);
  const verdict = verifyFor(parts, merchant, body, given['signature'] || undefined);
  return (
    <>
      <section class="box" id="verdict" data-verdict={verdict.valid ? 'good' : 'bad'} aria-label="Verdict">
        <h2>{sentence(verdict, Boolean(given['signature']))}</h2>
        <Warnings of={verdict.reasons} />
        {verdict.fix !== null && <p>{verdict.fix}</p>}
        <Working of={verdict} merchant={merchant} />
      </section>
      <Section id="lines" title="Code that computes it">
        <Languages of={parts.dialect.signatureCode(body)} />
      </Section>
    </>
  );
}

/** @param isComputed whether the signature is one that the user's code computed, not the one in the body */
function sentence({ valid, authentic }: Verification, isComputed: boolean): string {
  if (valid) return 'Valid: the signature is correct, and the payment succeeded.';
  if (authentic) return 'The signature is correct, but the payment did not succeed.';
  return isComputed
    ? 'Not valid: your code computes a different signature from the gateway.'
    : 'Not valid: your receiver should reject it.';
}

/** Returns the pasted body, or the body of the IPN with the pasted id, and the merchant whose key signs it. */
function pasted({ merchants, ipns }: AppParts, { body: text = '', merchant: chosen }: FormValues) {
  if (!text.trim()) throw new GatewayError('invalid_fields', 'the body to verify is empty');
  const sent = isDeliveryId(text) ? ipns.require(text.trim()) : undefined;
  const owner = chosen || sent?.merchantId;
  const body = sent ? (ipns.attemptsOf(sent.id).at(-1)?.requestBody ?? sent.body) : ipnBodyIn(text);
  // To find out how a signature was computed, the text is signed thousands of times.
  requireFireable(body, 1);
  return {
    body,
    merchant: owner ? merchants.require(owner) : merchants.default,
  };
}
