import { GatewayError } from '../../../contract/error.ts';
import { requireFireable } from '../../../contract/fired-ipn.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import { ipnBodyIn, isDeliveryId } from '../../../diagnosis/pasted-ipn.ts';
import { signatureCode } from '../../../diagnosis/signature-code.ts';
import { type Verification, verify } from '../../../diagnosis/verify.ts';
import type { AppDependencies } from '../../environment.ts';
import { Difference, Facts, Languages, Section, Warnings } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { MerchantField } from './new-payment.tsx';
import type { NounPages, PageRenderer } from './page.tsx';
import { type FormValues, SIGNATURE } from './paths.ts';

/** Checks a pasted IPN, and shows the result on the same page. */
const signatureCheckerPage: PageRenderer = ({ parts, query }) => {
  const content = (
    <>
      <h1>Signature checker</h1>
      <section class="box" id="check" aria-label="IPN to check">
        <Form to={SIGNATURE} submit="Check signature" look="primary">
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
                The body that your handler got (a form or JSON), a curl command, the output of PHP's{' '}
                <code>print_r</code> or <code>var_dump</code>, or the id of an IPN.
              </>
            }
          />
          <Field
            name="signature"
            label="Signature that your handler computed (empty: the signature in the IPN)"
            value={query['signature']}
            wide
          />
          <MerchantField parts={parts} any="automatic" chosen={query['merchant']} />
        </Form>
      </section>
      {query['body'] !== undefined && <Checked parts={parts} given={query} />}
    </>
  );
  return { place: null, path: SIGNATURE, title: 'Signature checker', content, isStill: true };
};

/** @throws GatewayError `invalid_fields` if nothing was pasted, `not_found` for an unknown IPN or merchant */
function Checked({ parts, given }: { parts: AppDependencies; given: FormValues }) {
  const { body, merchant } = pasted(parts, given);
  const keys = { ...merchant, merchants: parts.store.state.merchants.values() };
  const verdict = verify(body, keys, given['signature'] || undefined);
  return (
    <>
      <section class="box" id="verdict" data-verdict={verdict.valid ? 'good' : 'bad'} aria-label="Verdict">
        <h2>{sentence(verdict, Boolean(given['signature']))}</h2>
        <Warnings of={verdict.reasons} />
        {verdict.fix !== null && <p>{verdict.fix}</p>}
        <SignatureSteps
          of={verdict}
          merchant={merchant}
          {...(given['signature'] && { sent: verify(body, keys).signature })}
        />
      </section>
      <Section id="lines" title="Code that computes it">
        <Languages of={signatureCode(body)} />
      </Section>
    </>
  );
}

/** @param isComputed whether the signature is one that the user's code computed, not the one in the body */
function sentence({ valid, authentic }: Verification, isComputed: boolean): string {
  if (valid) return 'Valid: the signature is correct, and the payment succeeded.';
  if (authentic) return 'The signature is correct, but the payment did not succeed.';
  return isComputed
    ? 'Not valid: your handler computes a different signature from the gateway.'
    : 'Not valid: your handler should reject it.';
}

/** Returns the pasted body, or the body of the IPN with the pasted id, and the merchant whose key signs it. */
function pasted(
  { merchants, ipns, store }: AppDependencies,
  { body: text = '', merchant: chosen }: FormValues,
) {
  if (!text.trim()) throw new GatewayError('invalid_fields', 'the body to verify is empty');
  const sent = isDeliveryId(text) ? ipns.require(text.trim()) : undefined;
  const owner = chosen || sent?.merchantId;
  const body = sent ? (store.state.attemptsOf(sent.id).at(-1)?.requestBody ?? sent.body) : ipnBodyIn(text);
  // To find out how a signature was computed, the text is signed thousands of times.
  requireFireable(body, 1);
  return {
    body,
    merchant: owner ? merchants.require(owner) : merchants.default,
  };
}

/** Opens the checker with an IPN, and the signature that the user's code computed for it. */
export function ExplainSignature({ ipn }: { ipn: string }) {
  return (
    <Form to={SIGNATURE} hidden={{ body: ipn }} submit="Explain">
      <Field
        name="signature"
        label="Signature that your handler computed (empty: the one that was sent)"
        wide
      />
    </Form>
  );
}

/**
 * Shows the signed text, the key, and the signatures.
 *
 * @param props `sent`: the signature in the body, if another one is checked
 */
function SignatureSteps(props: { of: Verification; merchant: Merchant; sent?: string | null }) {
  const { of, merchant, sent } = props;
  const { signature, expected, signedText, foundText, amount, identifier } = of;
  const isExpected = signature !== null && signature === expected;
  const isOther = foundText !== null && signedText !== null && foundText !== signedText;
  return (
    <Facts
      rows={[
        [
          'Signed text',
          isOther ? <Difference text={signedText} from={foundText} /> : <code>{signedText ?? '–'}</code>,
        ],
        ['Your handler signed', isOther ? <Difference text={foundText} from={signedText} /> : null],
        [
          'Composed of',
          <>
            <code>data.amount</code> (<code>{amount ?? 'missing'}</code>) + <code>identifier</code> (
            <code>{identifier ?? 'missing'}</code>), no separator
          </>,
        ],
        ['Key', `the secret key of ${merchant.name}, whose public key is ${merchant.publicKey}`],
        ['Signature matches', isExpected ? <code>{signature}</code> : null],
        ['Expected', isExpected ? null : <code>{expected ?? '–'}</code>],
        [
          'Sent',
          sent === undefined && isExpected ? null : (
            <code>{(sent === undefined ? signature : sent) ?? 'missing'}</code>
          ),
        ],
        ['Your handler computed', sent === undefined || isExpected ? null : <code>{signature}</code>],
      ]}
    />
  );
}

export const SIGNATURE_PAGES: NounPages = {
  pages: { [SIGNATURE]: signatureCheckerPage },
  forms: {
    // Pasted text may be too long for a URL.
    [SIGNATURE]: async (_, fields) => fields,
  },
};
