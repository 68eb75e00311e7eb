import type { Delivery } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Facts, Section, Warnings } from './blocks.tsx';

/** Maximum other merchants whose keys are tried. */
const TRIED = 20;

/** Checks what was sent as a careful receiver does, and shows the working. */
export function Signature({ parts, delivery, sent }: { parts: AppParts; delivery: Delivery; sent: string }) {
  const { merchants } = parts.state.current;
  const merchant = merchants.get(delivery.merchantId);
  if (!merchant) return null;
  const { name, publicKey, secretKey } = merchant;
  const otherMerchants = [...merchants.values()].filter((other) => other !== merchant).slice(0, TRIED);
  // Keys that it may have been made with by mistake.
  const others = new Map([
    ['the public key', publicKey],
    ...otherMerchants.map((other) => [`the secret key of ${other.name}`, other.secretKey] as const),
  ]);
  const verdict = parts.dialect.verify(sent, { secretKey, others });
  const isExpected = verdict.signature !== null && verdict.signature === verdict.expected;
  const isOldPair = delivery.signedWith !== '' && delivery.signedWith !== publicKey;
  return (
    <Section id="signature" title="Signature">
      <p class={`verdict ${verdict.authentic ? 'right' : 'wrong'}`}>
        {verdict.authentic
          ? `Right: upper-case hex HMAC-SHA256 of the text below, with the secret key of ${name}.`
          : `Not right for the secret key of ${name}.`}
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
          ['Key', `the secret key of ${name}, whose public key is ${publicKey}`],
          ['Sent = expected', isExpected ? <code>{verdict.signature}</code> : null],
          ['Expected', isExpected ? null : <code>{verdict.expected ?? '–'}</code>],
          ['Sent', isExpected ? null : <code>{verdict.signature ?? 'missing'}</code>],
        ]}
      />
    </Section>
  );
}
