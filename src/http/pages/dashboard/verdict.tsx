import { useContext } from 'hono/jsx';
import type { Diagnosis } from '../../diagnosis.ts';
import { Code, Copyable } from './blocks.tsx';
import { Form } from './forms.tsx';
import { PageContext, PLACES, recordPath } from './page.tsx';

const MARKS = { good: 'verdict right', bad: 'verdict wrong', waiting: '' } as const;

/**
 * What became of an IPN, why, and what to do: the first thing on its page and on that of its payment.
 *
 * @param resend the page of the delivery
 * @param ipn its id, where the page is not its own
 */
export function VerdictCard({ of, resend, ipn }: { of: Diagnosis; resend: string; ipn?: string }) {
  const { tone, cause, cure, code, action } = of;
  const { style } = useContext(PageContext);
  return (
    <section class="box" id="verdict" data-verdict={tone} aria-label="Verdict">
      <p>
        <strong class={MARKS[tone]}>{cause}</strong>
        {ipn !== undefined && (
          <>
            {' '}
            <a href={recordPath('ipns', ipn)}>Its IPN</a>
          </>
        )}
      </p>
      {cure !== null && <p>{cure}</p>}
      {code !== null &&
        Object.entries(code).map(([language, line]) => (
          <details id={`verdict-${language}`}>
            <summary>{language}: the line that computes it</summary>
            <Code id={`verdict-line-${language}`} text={line} what={`The line for ${language}`} wraps />
          </details>
        ))}
      {action === 'resend' && (
        <Form to={`${resend}/resend`} hidden={{ from: resend }} submit="Send it again" />
      )}
      {action === 'faults' && (
        <p>
          <a href={PLACES.faults.path}>Faults</a>, or{' '}
          <Copyable id="clear-faults" text={style.command({ command: 'faults clear' })} what="the command" />
        </p>
      )}
    </section>
  );
}
