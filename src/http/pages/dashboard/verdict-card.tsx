import type { Child } from 'hono/jsx';
import type { AttemptFailure } from '../../../contract/delivery.ts';
import { describeShop } from '../../../contract/describe-changes.ts';
import {
  ASKS_WITH_INVALID_SIGNATURES,
  describeAttempts,
  fixLabel,
} from '../../../contract/describe-delivery.ts';
import type { FullVerdict } from '../../../diagnosis/verdict.ts';
import type { Delivery, Payment } from '../../../domain/state.ts';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Difference, Facts, Languages } from './blocks.tsx';
import { Form } from './forms.tsx';
import { FAULTS, recordPath } from './paths.ts';
import { capitalized, clip } from './text.ts';

/**
 * Says what happened to an IPN, where, why, and how to fix it, on top of the page.
 *
 * @param props `ipn`: the delivery, if there is one; `payment`: null for an IPN without one; `from`: the page to return to;
 *   `children`: the buttons of a pending payment
 */
export function VerdictCard(props: {
  of: FullVerdict;
  ipn: Delivery | undefined;
  payment: Payment | null;
  from: string;
  parts: AppDependencies;
  children?: Child;
}) {
  const { of, ipn, payment, from, parts, children } = props;
  const { tone, headline, where, cause, fix, signed, code, action, to, unexplained, outcome } = of;
  const page = ipn && recordPath('ipns', ipn.id);
  const inShop = ipn?.attemptCount
    ? describeShop(parts.rows.of(ipn.id), parts.rows.whyUnknown(ipn.id))
    : null;
  const address = (ipn && (parts.ipns.forwardedTo(ipn) ?? ipn.url)) ?? '';
  const isGenuine = ipn?.paymentId != null && ipn.signedWith !== '';
  const attempts = ipn ? parts.store.state.attemptsOf(ipn.id) : [];
  const isMixed = attempts.some(({ responseStatus }) => responseStatus !== attempts[0]?.responseStatus);
  const mayAsk = unexplained && isGenuine && attempts.at(-1)?.responseStatus != null;
  const resendLabel = ipn?.signedWith === '' ? 'Resend the forged copy' : 'Resend';
  const right = signed ? signed.amount + signed.identifier : '';
  return (
    <section class="box" id="verdict" data-verdict={tone} aria-label="Verdict" tabindex={-1}>
      <div class={code ? 'columns' : undefined}>
        <div>
          <h2>{headline}</h2>
          <Facts
            rows={[
              ['Where', where && WHERE[where](address, attempts.at(-1)?.failure?.code)],
              ['Why', withoutStart(cause, headline) || null],
              [fixLabel(of), fix && <span class={fixLabel(of).toLowerCase()}>{withWholeOptions(fix)}</span>],
              ['What it means', outcome ?? null],
              ['Attempts', isMixed ? describeAttempts(attempts) : null],
              ['In your shop', inShop],
              ['Your handler signed', signed && <Difference text={signed.found} from={right} />],
              ['In the IPN', signed && <Difference text={right} from={signed.found} />],
            ]}
          />
        </div>
        {code && <Languages of={code} />}
      </div>
      {children}
      <div class="inline after">
        {page && (action !== null || tone === 'good' || tone === 'warning') && (
          <Form
            to={`${page}/resend`}
            hidden={to === null ? { from } : { from, to }}
            submit={to === null ? resendLabel : `Send a copy to ${clip(to, parts.secrets.mask)}`}
            look={action === 'resend' && !unexplained ? 'primary' : 'plain'}
          />
        )}
        {page && mayAsk && (
          <Form to={`${page}/diagnose`} hidden={{ from }} submit="Find the cause" look="primary" />
        )}
        {payment && action === 'send' && (
          <Form
            to={`${recordPath('payments', payment.id)}/send`}
            hidden={{ from }}
            submit="Send the IPN"
            look="primary"
          />
        )}
        {action === 'faults' && <Link href={FAULTS}>Show the rules</Link>}
      </div>
      {mayAsk && (
        <p class="soft">
          <em>Find the cause</em> sends variants of this IPN. {ASKS_WITH_INVALID_SIGNATURES}
        </p>
      )}
    </section>
  );
}

/** Removes a first sentence that is already above it. */
function withoutStart(text: string, shown: string): string {
  const start = shown.replace(/\.$/, '');
  const rest = text.startsWith(start) ? text.slice(start.length) : undefined;
  return rest === undefined || !/^[.:]/.test(rest) ? text : capitalized(rest.slice(1).trim());
}

/** Browsers would break the name of an option after its hyphens. */
const withWholeOptions = (text: string) =>
  text.split(/(--[\w-]+)/).map((part, index) => (index % 2 ? <span class="option">{part}</span> : part));

/** Where to act if the IPN did not get as far as the handler. */
const BEFORE_HANDLER: Readonly<Partial<Record<AttemptFailure['code'], string>>> = {
  connection_refused: 'Your shop',
  name_not_found: 'The address',
  no_route: 'The address',
  expects_http: 'The address',
  expects_https: 'The address',
};

const WHERE = {
  receiver: (url: string, failure: AttemptFailure['code'] | undefined) => (
    <>
      {(failure && BEFORE_HANDLER[failure]) ?? 'Your handler'}, <code>{url}</code>
    </>
  ),
  rule: () => 'Your fault rule, not your handler',
  emulator: () => "The emulator's options, not your handler",
  settling: () => 'How it was settled, not your handler',
} as const;
