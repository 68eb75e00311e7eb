import type { FullVerdict } from '../../../usecases/verdict.ts';
import { Code, Facts } from './blocks.tsx';
import { Form } from './forms.tsx';
import { docsPath, PLACES, recordPath } from './page.tsx';
import { Difference } from './signature.tsx';
import { clip } from './text.ts';

interface VerdictProps {
  of: FullVerdict;
  /** The id of the delivery; null if there is none. */
  ipn: string | null;
  /** The receiver's URL. */
  url: string;
  /** The page to return to. */
  from: string;
  /** The link to the payment as a test. */
  test?: string | undefined;
}

/** Says what happened to an IPN, where, why, and how to fix it, on top of its page and its payment's page. */
export function VerdictCard({ of, ipn, url, from, test }: VerdictProps) {
  const { tone, headline, where, cause, fix, signed, code, action, to } = of;
  const page = ipn === null ? null : recordPath('ipns', ipn);
  const isOwnPage = page !== null && from.startsWith(page);
  const right = signed ? signed.amount + signed.identifier : '';
  return (
    <section class="box" id="verdict" data-verdict={tone} aria-label="Verdict">
      <div class={code ? 'columns' : undefined}>
        <div>
          <h2>{headline}</h2>
          <Facts
            rows={[
              ['Where', where && WHERE[where](url)],
              ['Why', cause === headline ? null : cause],
              ['Fix', fix && <strong>{fix}</strong>],
              ['Your code signed', signed && <SignedText text={signed.found} from={right} {...signed} />],
              ['In the IPN', signed && <SignedText text={right} from={signed.found} {...signed} />],
            ]}
          />
        </div>
        {code && <Languages of={code} />}
      </div>
      <div class="inline after">
        {page && (action !== null || (tone !== 'waiting' && !isOwnPage)) && (
          <Form
            to={`${page}/resend`}
            hidden={to === null ? { from } : { from, to }}
            submit={to === null ? 'Send again' : `Send to ${clip(to)}`}
            look={action === 'resend' ? 'primary' : 'plain'}
          />
        )}
        {action === 'faults' && <a href={PLACES.faults.path}>Show the rules</a>}
        {fix && where && <a href={docsPath(signed ? SIGNATURES : DOCS[where])}>Documentation</a>}
        {test !== undefined && <a href={test}>Copy as test</a>}
        {page && !isOwnPage && <a href={page}>Open this IPN</a>}
      </div>
    </section>
  );
}

/** Shows a signed text, with amount and identifier apart if it has both. */
function SignedText({ text, from, identifier }: { text: string; from: string; identifier: string }) {
  if (!text.endsWith(identifier) || !from.endsWith(identifier)) return <Difference text={text} from={from} />;
  const amountIn = (signed: string) => signed.slice(0, signed.length - identifier.length);
  return (
    <span class="parts">
      <Difference text={amountIn(text)} from={amountIn(from)} />
      <code>{identifier}</code>
    </span>
  );
}

/** The documentation pages that explain a verdict. */
const SIGNATURES = 'ipns-by-hand.md#why-a-signature-does-not-match';
const DOCS = { receiver: 'receive-and-verify.md', rule: 'faults.md', emulator: 'retries.md' } as const;

const WHERE = {
  receiver: (url: string) => (
    <>
      Your receiver, <code>{url}</code>
    </>
  ),
  rule: () => 'Your fault rule, not your code',
  emulator: () => "The emulator's options, not your code",
} as const;

/** Shows code in several languages. The script remembers the selected one on all pages. */
export function Languages({
  of,
  id = 'verdict',
}: {
  of: Readonly<Record<string, string | undefined>>;
  id?: string;
}) {
  const codes = Object.entries(of);
  const name = `${id}-language`;
  return (
    <fieldset class="languages">
      <legend class="unseen">Language</legend>
      {codes.map(([language], index) => (
        <>
          <input type="radio" name={name} id={`${id}-${language}`} value={language} checked={index === 0} />
          <label for={`${id}-${language}`}>{language}</label>
        </>
      ))}
      {codes.map(([language, code = '']) => (
        <Code id={`${id}-line-${language}`} text={code} what={`${language}: ${id}`} wraps />
      ))}
    </fieldset>
  );
}
