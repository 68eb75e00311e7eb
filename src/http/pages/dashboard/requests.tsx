import type { RecordedRequest } from '../../../contract/event.ts';
import type { Payment } from '../../../domain/state.ts';
import { maskedRequest } from '../../control/views.ts';
import { Ago, Code, FactsBox, FoldedCode, ShortLink, Time, WarningCount, Warnings } from './blocks.tsx';
import { Form, Submit } from './forms.tsx';
import { listPage } from './list-page.tsx';
import { type PageRenderer, recordPage, recordPath } from './page.tsx';
import { replayProblem, requireRecorded } from './replay.ts';
import { SampleInitiate } from './samples.tsx';
import { column } from './table.tsx';
import { pretty } from './text.ts';

export const requestsPage = listPage<RecordedRequest>({
  place: 'requests',
  noun: 'request',
  intro:
    'What reached the service, newest first, what it was answered, and what the developer should know. Secrets are masked.',
  records: ({ events }) => {
    const requests = events.exchanges();
    return {
      size: requests.length,
      backwards: (visit) => void requests.every((request) => visit(request, request.id)),
    };
  },
  columns: ({ state }) => [
    column('Request', RequestLink, { head: true }),
    column('Status', (request) => <ResponseStatus of={request} />, { kind: 'state' }),
    column('Payment', ({ paymentId }) => <PaymentLink of={state.current.payments.get(paymentId ?? '')} />, {
      kind: 'name',
    }),
    column('Took', ({ durationMs }) => `${durationMs} ms`, { kind: 'few' }),
    column('At', ({ at }) => <Ago at={at} />, { kind: 'time' }),
  ],
  first: (parts) => (
    <>
      <p>This makes one:</p>
      <SampleInitiate parts={parts} merchant={parts.merchants.default} />
    </>
  ),
});

function RequestLink(request: RecordedRequest) {
  return (
    <>
      <ShortLink to={recordPath('requests', request.id)} text={titleOf(request)} />
      <WarningCount of={request.notes} />
    </>
  );
}

function PaymentLink({ of: payment }: { of: Payment | undefined }) {
  if (!payment) return null;
  return <ShortLink to={recordPath('payments', payment.id)} text={payment.identifier} />;
}

function titleOf({ method, target }: RecordedRequest): string {
  return `${method} ${target.split('?', 1)[0]}`;
}

/** A status, and whether it is a refusal: of initiate many are 200. */
function ResponseStatus({ of: { status, responseBody } }: { of: RecordedRequest }) {
  const isRefusal = status >= 400 || responseBody?.startsWith('{"error"') === true;
  const text = `${status}${isRefusal ? ' refused' : ''}`;
  return <span class={`status ${isRefusal ? 'failed' : 'succeeded'}`}>{text}</span>;
}

export const requestPage: PageRenderer = ({ parts, id }) => {
  const request = requireRecorded(parts, id);
  const { at, durationMs, target, paymentId, notes, ...shown } = maskedRequest(request, parts);
  const headers = Object.entries(shown.requestHeaders).map(([name, value]) => `${name}: ${value}`);
  const facts = [
    ['At (UTC)', <Time at={at} precise />],
    ['Took', `${durationMs} ms`],
    ['Address', target.includes('?') ? <code>{target}</code> : null],
    ['Payment', paymentId && <a href={recordPath('payments', paymentId)}>{paymentId}</a>],
  ] as const;
  return recordPage(
    'requests',
    request.id,
    { title: titleOf(request), status: <ResponseStatus of={request} /> },
    <>
      <FactsBox label="Summary" rows={facts}>
        <Warnings of={notes} />
        <Replay id={request.id} problem={replayProblem(request, parts)} />
      </FactsBox>
      <div class="sides">
        <section class="box" aria-labelledby="request">
          <h2 id="request">Request</h2>
          <Code text={headers.join('\n')} what="Headers of the request" />
          <Body text={shown.requestBody} what="request" />
        </section>
        <section class="box" aria-labelledby="answer">
          <h2 id="answer">Answer</h2>
          <Body text={shown.responseBody} what="answer" />
        </section>
      </div>
    </>,
  );
};

function Replay({ id, problem }: { id: number; problem: string | undefined }) {
  if (problem !== undefined) return <p class="soft">It cannot be sent again: {problem}.</p>;
  return (
    <Form to={`${recordPath('requests', id)}/replay`} inline>
      <Submit>Send again</Submit>
      <span class="soft">The same method, path, headers and body, with the real secrets in them.</span>
    </Form>
  );
}

function Body({ text, what }: { text: string | null; what: string }) {
  if (!text) return <p class="soft">No body.</p>;
  const read = pretty(text);
  return (
    <>
      <Code text={read} what={`Body of the ${what}`} />
      {read !== text && (
        <FoldedCode id={`raw-${what}`} title="Raw body" text={text} what={`Raw body of the ${what}`} />
      )}
    </>
  );
}
