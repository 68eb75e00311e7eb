import { PAYMENT_STATUSES } from '../../domain/state.ts';
import { renderDocument } from './layout.tsx';
import { DASHBOARD_STYLES } from './styles.ts';
import type { DashboardView, PaymentRow } from './views.ts';
import { WORDING, type Wording } from './wording.ts';

/** The page at `/_sim`: what to connect with, a command to try, and the last payments, as a whole HTML document. */
export function dashboardPage(view: DashboardView): string {
  const words: Wording = WORDING[view.language];
  return renderDocument({
    view,
    theme: 'system',
    title: `${words.dashboard.title} · gateway-sim`,
    styles: DASHBOARD_STYLES,
    children: <Dashboard view={view} words={words} />,
  });
}

interface DashboardProps {
  view: DashboardView;
  words: Wording;
}

function Dashboard({ view, words }: DashboardProps) {
  const { dashboard } = words;
  return (
    <main class="dashboard">
      <div class="masthead">
        <h1>
          gateway-sim <small>{view.version}</small>
        </h1>
        <p>{dashboard.intro}</p>
      </div>
      <Trouble view={view} words={words} />
      <div class="columns">
        <Connect view={view} words={words} />
        <section class="box" aria-labelledby="try">
          <h2 id="try">{dashboard.tryIt}</h2>
          <p>{dashboard.tryItNote}</p>
          {/* Scrolls sideways on a phone, like the table below. */}
          <pre tabindex={0}>
            <code>{view.curl}</code>
          </pre>
        </section>
      </div>
      <section class="box" aria-labelledby="payments">
        <div class="heading">
          <h2 id="payments">{dashboard.payments}</h2>
          <a href="/_sim">{dashboard.reload}</a>
        </div>
        {view.payments.length > 0 ? <Payments view={view} words={words} /> : <NoPayments words={words} />}
      </section>
    </main>
  );
}

/** What makes this emulator behave unlike the others: impossible to overlook while it is so. */
function Trouble({ view, words }: DashboardProps) {
  const { faults, clock } = words.dashboard;
  if (!view.faults.length && !view.clock) return null;
  return (
    <section class="box alarm" role="status" aria-label={view.faults.length ? faults.title : undefined}>
      {view.faults.length > 0 && (
        <>
          <h2>{faults.title}</h2>
          <ul>
            {view.faults.map((fault) => (
              <li>
                <code>{fault}</code>
              </li>
            ))}
          </ul>
          <p>{faults.note}</p>
        </>
      )}
      {view.clock && <p>{clock(view.clock.now.slice(0, 19).replace('T', ' '), view.clock.frozen)}</p>}
    </section>
  );
}

function Connect({ view, words }: DashboardProps) {
  const { facts, connect, inMemory } = words.dashboard;
  const rows = [
    [facts.baseUrl, view.baseUrl],
    [facts.publicKey, view.publicKey],
    [facts.secretKey, view.secretKey],
    [facts.sandboxEmail, view.sandboxEmail],
    [facts.sandboxCode, view.sandboxCode],
    [facts.liveEmail, view.liveEmail],
    [facts.liveCode, 'gateway-sim inbox'],
    [facts.state, view.dataDir ?? inMemory],
  ];
  return (
    <section class="box" aria-labelledby="connect">
      <h2 id="connect">{connect}</h2>
      <dl>
        {rows.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>
              <code>{value}</code>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Payments({ view, words }: DashboardProps) {
  const { columns, counts, table } = words.dashboard;
  return (
    <>
      <ul class="counts" aria-label={counts}>
        {PAYMENT_STATUSES.map((status) => (
          <li>
            <span class="number">{view.counts[status]}</span>{' '}
            <span class={`status ${status}`}>{words.status[status]}</span>
          </li>
        ))}
      </ul>
      {/* Scrolls sideways on a phone; the keyboard needs a focus to do so. */}
      <section class="scroll" tabindex={0} aria-label={table}>
        <table aria-label={table}>
          <thead>
            <tr>
              <th scope="col">{columns.payment}</th>
              <th scope="col">{columns.mode}</th>
              <th scope="col" class="amount">
                {columns.amount}
              </th>
              <th scope="col">{columns.status}</th>
              <th scope="col">{columns.created}</th>
              <th scope="col">{columns.checkout}</th>
            </tr>
          </thead>
          <tbody>
            {view.payments.map((row) => (
              <Row row={row} words={words} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Row({ row, words }: { row: PaymentRow; words: Wording }) {
  return (
    <tr>
      <th scope="row">
        {row.identifier}
        {row.warnings.map((warning) => (
          <span class="warning">{warning}</span>
        ))}
      </th>
      <td>{row.mode}</td>
      <td class="amount">{row.amount}</td>
      <td>
        <span class={`status ${row.status}`}>{words.status[row.status]}</span>
      </td>
      <td>
        <time datetime={row.createdAt}>{row.createdAt.slice(0, 19).replace('T', ' ')}</time>
      </td>
      <td>
        <a href={row.checkoutUrl}>
          {words.dashboard.open}
          <span class="unseen">{words.dashboard.openOf(row.identifier)}</span>
        </a>
      </td>
    </tr>
  );
}

function NoPayments({ words }: { words: Wording }) {
  const { title, note } = words.dashboard.empty;
  return (
    <div class="empty">
      <h3>{title}</h3>
      <p>{note}</p>
      <pre>
        <code>gateway-sim payments create --amount 100 --currency USD</code>
      </pre>
    </div>
  );
}
