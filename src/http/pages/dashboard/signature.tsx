import type { Merchant } from '../../../contract/merchant.ts';
import type { Delivery, State } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Facts, Section, Warnings } from './blocks.tsx';

/** Checks what was sent as a careful receiver does, and shows the working. */
export function Signature({ parts, delivery, sent }: { parts: AppParts; delivery: Delivery; sent: string }) {
  const { current: state } = parts.state;
  const merchant = state.merchants.get(delivery.merchantId);
  if (!merchant) return null;
  const verdict = parts.dialect.verify(sent, {
    secretKey: merchant.secretKey,
    others: otherKeys(merchant, state),
  });
  const isExpected = verdict.signature !== null && verdict.signature === verdict.expected;
  const isOldPair = delivery.signedWith !== '' && delivery.signedWith !== merchant.publicKey;
  return (
    <Section id="signature" title="Signature">
      <p class={`verdict ${verdict.authentic ? 'right' : 'wrong'}`}>
        {verdict.authentic
          ? `Right: upper-case hex HMAC-SHA256 of the text below, with the secret key of ${merchant.name}.`
          : `Not right for the secret key of ${merchant.name}.`}
      </p>
      {isOldPair && (
        <p class="warning">
          It was signed with the pair of {delivery.signedWith}, which was replaced since. Resend signs it
          anew.
        </p>
      )}
      <Warnings of={verdict.reasons} />
      <Facts
        rows={[
          ['Signed text', <code>{verdict.signedText ?? delivery.signedText}</code>],
          [
            'Is made of',
            <>
              data.amount (<code>{verdict.amount ?? 'missing'}</code>) and identifier (
              <code>{verdict.identifier ?? 'missing'}</code>), nothing between
            </>,
          ],
          ['Key', `the secret key of ${merchant.name}, whose public key is ${merchant.publicKey}`],
          ['Sent = expected', isExpected ? <code>{verdict.signature}</code> : null],
          ['Expected', isExpected ? null : <code>{verdict.expected ?? '–'}</code>],
          ['Sent', isExpected ? null : <code>{verdict.signature ?? 'missing'}</code>],
        ]}
      />
    </Section>
  );
}

/** Maximum other merchants whose keys are tried. */
const TRIED = 20;

/** Keys that a signature may have been made with by mistake. */
function otherKeys(own: Merchant, state: State): ReadonlyMap<string, string> {
  const others = [...state.merchants.values()].filter(({ id }) => id !== own.id).slice(0, TRIED);
  return new Map([
    ['the public key', own.publicKey],
    ...others.map(({ name, secretKey }) => [`the secret key of ${name}`, secretKey] as const),
  ]);
}
