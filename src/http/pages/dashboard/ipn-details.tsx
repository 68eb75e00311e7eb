import { remarksOn } from '../../../contract/describe-delivery.ts';
import { TAMPERINGS } from '../../../contract/tampering.ts';
import type { Delivery } from '../../../domain/state.ts';
import { faultOf } from '../../../usecases/verdict.ts';
import type { AppDependencies } from '../../environment.ts';
import { Facts, Fold, Time, Warnings } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { recordPath } from './paths.ts';
import { Signature } from './signature.tsx';

/** The facts about an IPN and its signature, collapsed. */
export function IpnDetails({ delivery, parts }: { delivery: Delivery; parts: AppDependencies }) {
  const { id, url, status, createdAt, nextAttemptAt, body } = delivery;
  const forwardedTo = parts.ipns.forwardedTo(delivery);
  const last = parts.ipns.attemptsOf(id).at(-1);
  const facts = [
    [forwardedTo === null ? 'To' : 'ipn_url', <code>{url}</code>],
    ['Forwarded to', forwardedTo && <code>{forwardedTo}</code>],
    ['Status field', <code>{status}</code>],
    ['IPN', <code>{id}</code>],
    ['Created (UTC)', <Time at={createdAt} />],
    ['Next attempt (UTC)', nextAttemptAt && <Time at={nextAttemptAt} />],
  ] as const;
  return (
    <Fold id="signature" title="IPN and signature">
      <Warnings of={remarksOn(delivery)} />
      <Facts rows={facts} />
      <Signature
        parts={parts}
        delivery={delivery}
        sent={last?.requestBody ?? body}
        fault={last && last.requestBody !== body ? faultOf(last) : null}
      />
    </Fold>
  );
}

/** Sends an IPN to another address, or a forged copy. */
export function SendAgain({ delivery, from }: { delivery: Delivery; from: string }) {
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
