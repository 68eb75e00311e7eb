import type { Child } from 'hono/jsx';
import { remarksOn } from '../../../contract/describe-delivery.ts';
import { requireTamperings, TAMPERINGS } from '../../../contract/tampering.ts';
import type { FullVerdict } from '../../../diagnosis/verdict.ts';
import type { Delivery, Payment } from '../../../domain/state.ts';
import { attemptId, type StoryStep } from '../../../usecases/story.ts';
import type { AppDependencies } from '../../environment.ts';
import { Fold, ShopPill, Warnings } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type NounPages, type PageRenderer, recordPage } from './page.tsx';
import { ATTENTION, listPath, ownPage, recordPath, recordRoute, UI } from './paths.ts';
import { ExplainSignature } from './signature.tsx';
import { Timeline } from './timeline.tsx';
import { VerdictCard } from './verdict-card.tsx';

/**
 * What happened to a payment, or to an IPN without one: the verdict, the timeline, and the rest folded.
 *
 * @param props `ipn`: the delivery of the verdict, if there is one; `children`: the buttons of a pending payment;
 *   `more`: further folds
 */
export function Story(props: {
  verdict: FullVerdict;
  ipn: Delivery | undefined;
  payment: Payment | null;
  steps: readonly StoryStep[];
  deliveries: readonly Delivery[];
  parts: AppDependencies;
  from: string;
  children?: Child;
  more?: Child;
}) {
  const { verdict, ipn, payment, parts, from, children, more, ...story } = props;
  return (
    <>
      <VerdictCard of={verdict} ipn={ipn} payment={payment} from={from} parts={parts}>
        {children}
      </VerdictCard>
      {payment && <Warnings of={payment.warnings} />}
      <Timeline {...story} payment={payment} judged={ipn?.id ?? null} parts={parts} />
      <div class="folds">
        {ipn && <SendAgain delivery={ipn} from={from} />}
        {ipn && <IpnSignature delivery={ipn} />}
        {more}
      </div>
    </>
  );
}

/** What an IPN signs, and a form that compares it with what the user's code computed. */
function IpnSignature({ delivery }: { delivery: Delivery }) {
  const { id, signedText } = delivery;
  return (
    <Fold id="signature" title="Signature">
      <Warnings of={remarksOn(delivery)} />
      <p>
        IPN <code>{id}</code> signs <code>{signedText}</code>
      </p>
      <ExplainSignature ipn={id} />
    </Fold>
  );
}

/** Sends an IPN to another address, or a forged copy. */
function SendAgain({ delivery, from }: { delivery: Delivery; from: string }) {
  const path = recordPath('ipns', delivery.id);
  return (
    <Fold id="send" title="Send again">
      <Form to={`${path}/resend`} label="To another URL" hidden={{ from }} submit="Send a copy">
        <Field
          name="to"
          label="To another URL"
          type="url"
          wide
          value={delivery.url}
          required
          placeholder="http://localhost:3000/ipn"
        />
      </Form>
      <Form to={`${path}/tamper`} label="Forged copy" hidden={{ from }} submit="Send a forged copy">
        <Field name="tamper" label="Forged copy (your shop should reject it)" options={TAMPERINGS} wide />
      </Form>
    </Fold>
  );
}

const IPN = recordRoute('ipns');

/** The page that shows an IPN. */
const pageOf = ({ id, paymentId }: Delivery) =>
  paymentId === null ? recordPath('ipns', id) : recordPath('payments', paymentId);

/** An IPN that was sent by hand, without a payment. Other IPNs are on the page of their payment. */
const ipnPage: PageRenderer = ({ parts, id, refusal }) => {
  const delivery = parts.ipns.require(id);
  const { paymentId, attemptCount } = delivery;
  if (paymentId !== null && !refusal)
    return `${recordPath('payments', paymentId)}#${attemptId(id, Math.max(1, attemptCount))}`;
  return recordPage(
    'ipns',
    id,
    { title: `IPN of ${delivery.identifier}`, status: <ShopPill of={parts.ipns.shopState(delivery)} /> },
    <Story
      verdict={parts.ipns.verdict(delivery)}
      ipn={delivery}
      payment={null}
      steps={parts.ipns.story(delivery)}
      deliveries={[delivery]}
      parts={parts}
      from={recordPath('ipns', id)}
    />,
  );
};

export const IPN_PAGES: NounPages = {
  pages: {
    [`${UI}/ipns`]: () => listPath('payments', { status: ATTENTION }),
    [IPN]: ipnPage,
  },
  forms: {
    [`${IPN}/resend`]: async ({ ipns, secrets }, { to, from }, id) => {
      const { url } = ipns.require(id);
      // The page shows the address without its password.
      const sent = await ipns.resend(id, to === secrets.mask(url) ? url : to || undefined);
      const page = pageOf(sent);
      const back = ownPage(from, page);
      return back.startsWith(page) ? `${back}#${attemptId(sent.id, sent.attemptCount)}` : back;
    },
    [`${IPN}/diagnose`]: async ({ ipns, runtime }, { from }, id) => {
      await ipns.diagnose(id, {}, runtime.stopped);
      return `${ownPage(from, pageOf(ipns.require(id)))}#verdict`;
    },
    [`${IPN}/tamper`]: async ({ ipns }, { tamper = '', from }, id) => {
      const { paymentId, url } = ipns.require(id);
      const payment = paymentId === null ? {} : { payment: paymentId };
      const [fired] = await ipns.fire({ ...payment, to: url, tamper: requireTamperings(tamper) });
      if (!fired) return undefined;
      // Without a payment, the copy has its own page.
      const page = pageOf(fired);
      return `${paymentId === null ? page : ownPage(from, page)}#${attemptId(fired.id, 1)}`;
    },
  },
};
