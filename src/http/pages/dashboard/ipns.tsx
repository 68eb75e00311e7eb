import { requireTamperings } from '../../../contract/tampering.ts';
import { attemptId } from '../../../usecases/story.ts';
import { ShopPill } from './blocks.tsx';
import { IpnDetails, SendAgain } from './ipn-details.tsx';
import { type NounPages, type PageRenderer, recordPage } from './page.tsx';
import { ATTENTION, ipnPath, listPath, ownPage, recordPath, recordRoute, UI } from './paths.ts';
import { paymentPage } from './payment.tsx';
import { Timeline } from './timeline.tsx';
import { VerdictCard } from './verdict-card.tsx';

const IPN = recordRoute('ipns');

/** An IPN that was sent by hand, without a payment. Other IPNs are on the page of their payment. */
const ipnPage: PageRenderer = ({ parts, id, query }) => {
  const delivery = parts.ipns.require(id);
  const { paymentId, identifier } = delivery;
  if (paymentId !== null) return paymentPage({ parts, id: paymentId, query });
  const from = recordPath('ipns', id);
  return recordPage(
    'ipns',
    id,
    { title: `IPN of ${identifier}`, status: <ShopPill of={parts.ipns.shopState(delivery)} /> },
    <>
      <VerdictCard
        of={parts.ipns.verdict(delivery)}
        ipn={delivery}
        payment={null}
        from={from}
        parts={parts}
      />
      <Timeline
        steps={parts.ipns.story(delivery)}
        payment={null}
        deliveries={[delivery]}
        judged={id}
        parts={parts}
      />
      <div class="folds">
        <SendAgain delivery={delivery} from={from} />
        <IpnDetails delivery={delivery} parts={parts} />
      </div>
    </>,
    query,
  );
};

export const IPN_PAGES: NounPages = {
  pages: { [IPN]: ipnPage },
  moved: {
    [`${UI}/ipns`]: () => listPath('payments', { status: ATTENTION }),
    [IPN]: ({ ipns }, id) => {
      const delivery = ipns.require(id);
      const { paymentId, attemptCount } = delivery;
      return paymentId === null
        ? undefined
        : `${ipnPath(delivery)}#${attemptId(id, Math.max(1, attemptCount))}`;
    },
  },
  forms: {
    [`${IPN}/resend`]: async ({ ipns, secrets }, { to, from }, id) => {
      const { url } = ipns.require(id);
      // The page shows the address without its password.
      const sent = await ipns.resend(id, to === secrets.mask(url) ? url : to || undefined);
      const page = ipnPath(sent);
      const back = ownPage(from, page);
      return back.startsWith(page) ? `${back}#${attemptId(sent.id, sent.attemptCount)}` : back;
    },
    [`${IPN}/diagnose`]: async ({ ipns, runtime }, { from }, id) => {
      await ipns.diagnose(id, {}, runtime.stopped);
      return `${ownPage(from, ipnPath(ipns.require(id)))}#verdict`;
    },
    [`${IPN}/tamper`]: async ({ ipns }, { tamper = '', from }, id) => {
      const { paymentId, url } = ipns.require(id);
      const payment = paymentId === null ? {} : { payment: paymentId };
      const [fired] = await ipns.fire({ ...payment, to: url, tamper: requireTamperings(tamper) });
      // Without a payment, the copy has its own page.
      const page = fired && (paymentId === null ? ipnPath(fired) : ownPage(from, ipnPath(fired)));
      return fired && `${page}#${attemptId(fired.id, 1)}`;
    },
  },
};
