import type { Merchant } from '../../../contract/merchant.ts';
import type { Delivery } from '../../../domain/state.ts';
import type { Verification } from '../../../wire/dialect.ts';
import type { AppParts } from '../../environment.ts';
import { Facts, Section, Warnings } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { PLACES } from './page.tsx';

/** Checks a body as a careful receiver would. @param signature replaces the one in the body */
export function verifyFor(
  { merchants, dialect }: AppParts,
  merchant: Merchant,
  body: string,
  signature?: string,
): Verification {
  return dialect.verify(body, { ...merchant, merchants: merchants.all.values() }, signature);
}

/** Checks the signature of the sent body, and explains the result. */
export function Signature(props: {
  parts: AppParts;
  delivery: Delivery;
  sent: string;
  /** The fault rule that changed the sent body; null if none. */
  fault: string | null;
}) {
  const { parts, delivery, sent, fault } = props;
  const merchant = parts.merchants.of(delivery);
  if (!merchant) return null;
  const { name, publicKey } = merchant;
  const verdict = verifyFor(parts, merchant, sent);
  const isOldPair = delivery.signedWith !== '' && delivery.signedWith !== publicKey;
  return (
    <Section id="signature" title="Signature">
      <p class={`verdict ${verdict.authentic ? 'right' : 'wrong'}`}>
        {verdict.authentic
          ? `Correct: upper-case hex HMAC-SHA256 of the text below, with the secret key of ${name}.`
          : `Incorrect: it does not match the secret key of ${name}.`}
      </p>
      {isOldPair && (
        <p class="warning">
          It was signed with the key pair {delivery.signedWith}, which has since been replaced. Resending
          signs it again.
        </p>
      )}
      <Warnings of={fault === null ? verdict.reasons : [fault]} />
      <Working of={verdict} merchant={merchant} text={delivery.signedText} />
      <Form to={PLACES.signature.path} hidden={{ body: delivery.id }} submit="Explain">
        <Field name="signature" label="Signature that your code computed" wide required />
      </Form>
    </Section>
  );
}

/** Shows the signed text, the key, and both signatures. @param text the signed text, if the body lacks its fields */
export function Working(props: { of: Verification; merchant: Merchant; text?: string }) {
  const { of, merchant, text = '–' } = props;
  const { signature, expected, signedText, foundText, amount, identifier } = of;
  const isExpected = signature !== null && signature === expected;
  const isOther = foundText !== null && signedText !== null && foundText !== signedText;
  return (
    <Facts
      rows={[
        [
          'Signed text',
          isOther ? <Difference text={signedText} from={foundText} /> : <code>{signedText ?? text}</code>,
        ],
        ['Your code signed', isOther ? <Difference text={foundText} from={signedText} /> : null],
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
        ['Sent', isExpected ? null : <code>{signature ?? 'missing'}</code>],
      ]}
    />
  );
}

/** Shows a text, and marks where it differs from another one. */
export function Difference({ text, from }: { text: string; from: string }) {
  const start = commonLength([...text], [...from]);
  const rest = [...text].slice(start);
  const end = commonLength(rest.toReversed(), [...from].slice(start).toReversed());
  const parts = [[...text].slice(0, start), rest.slice(0, rest.length - end), rest.slice(rest.length - end)];
  const [before, marked = '', after] = parts.map((part) => part.join(''));
  return (
    <code>
      {before}
      {marked !== '' && <mark>{marked}</mark>}
      {after}
    </code>
  );
}

/** Returns the length of the common prefix of two texts. */
function commonLength(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((character, index) => character !== other[index]);
  return differs < 0 ? one.length : differs;
}
