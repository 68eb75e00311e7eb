import type { FullVerdict } from '../../../usecases/verdict.ts';
import { Code, Facts } from './blocks.tsx';
import { Form } from './forms.tsx';
import { PLACES, recordPath } from './page.tsx';
import { Difference } from './signature.tsx';
import { clip } from './text.ts';

export const MARKS = {
  good: 'verdict right',
  warning: '',
  bad: 'verdict wrong',
  waiting: '',
} as const;

/**
 * What became of an IPN, why, and what to do: the first thing on its page and on that of its payment.
 *
 * @param ipn the id of the delivery; null for none
 * @param from the page that it is on, to come back to
 */
export function VerdictCard({ of, ipn, from }: { of: FullVerdict; ipn: string | null; from: string }) {
  const { tone, cause, fix, signed, code, action, to } = of;
  const page = ipn === null ? from : recordPath('ipns', ipn);
  return (
    <section class="box" id="verdict" data-verdict={tone} aria-label="Verdict">
      <p>
        <strong class={MARKS[tone]}>{cause}</strong>
        {from !== page && (
          <>
            {' '}
            <a href={page}>Its IPN</a>
          </>
        )}
      </p>
      {fix !== null && <p>{fix}</p>}
      {signed !== null && (
        <Facts
          rows={[
            ['Your code signed', <Difference text={signed.found} from={signed.expected} />],
            ['It should sign', <Difference text={signed.expected} from={signed.found} />],
          ]}
        />
      )}
      {code !== null &&
        Object.entries(code).map(([language, line], index) => (
          <details id={`verdict-${language}`} open={index === 0}>
            <summary>{language}: the line that computes it</summary>
            <Code id={`verdict-line-${language}`} text={line} what={`The line for ${language}`} wraps />
          </details>
        ))}
      {action !== null && (
        <Form
          to={`${page}/resend`}
          hidden={to === null ? { from } : { from, to }}
          submit={to === null ? 'Send again' : `Send to ${clip(to)}`}
          look={action === 'resend' ? 'primary' : 'plain'}
        />
      )}
      {action === 'faults' && (
        <p>
          <a href={PLACES.faults.path}>Show the rules</a>
        </p>
      )}
    </section>
  );
}
