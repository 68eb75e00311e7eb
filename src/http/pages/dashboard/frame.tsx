import { describeFault, isSpent } from '../../../contract/active-fault.ts';
import type { GatewayError } from '../../../contract/error.ts';
import { renderHint } from '../../../contract/hint.ts';
import { timestamp } from '../../../contract/timestamp.ts';
import type { AppContext, AppParts } from '../../environment.ts';
import DASHBOARD_STYLES from '../assets/dashboard.css?text';
import { renderDocument } from '../layout.tsx';
import { secure } from '../page-view.ts';
import { Time } from './blocks.tsx';
import { Form } from './forms.tsx';
import { type Page, PageContext, PLACES, type PostedForm, UI } from './page.tsx';

/** What a request ran into. */
export interface Refusal {
  error: GatewayError;
  posted?: PostedForm | undefined;
}

/** A whole page of the dashboard as text, under what went wrong. */
export function renderPage(c: AppContext, parts: AppParts, page: Page, refusal?: Refusal): string {
  const { style } = parts.runtime;
  // What answers a form is not at its own address.
  const answered = c.req.method === 'POST' ? page.path : undefined;
  return renderDocument({
    view: { language: 'en', nonce: secure(c, { script: true }) },
    theme: 'system',
    title: `${page.title} · gateway-sim`,
    styles: DASHBOARD_STYLES + (page.styles ?? ''),
    script: `${UI}/live.js`,
    children: (
      <div class="frame">
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <Top parts={parts} page={page} />
        <main id="content" tabindex={-1} data-page={answered} data-still={page.isStill ? '' : undefined}>
          <div id="trouble">
            <FaultAlarm parts={parts} page={page} />
            <ClockAlarm parts={parts} page={page} />
          </div>
          {refusal && (
            <div class="box alert" role="alert" data-keep="">
              <p>
                <strong>{refusal.error.problems.join('. ')}</strong>
              </p>
              {refusal.error.hint && <p>{renderHint(refusal.error.hint, style)}</p>}
            </div>
          )}
          <PageContext.Provider value={{ style, posted: refusal?.posted }}>
            {page.content}
          </PageContext.Provider>
        </main>
      </div>
    ),
  });
}

interface FrameProps {
  parts: AppParts;
  page: Page;
}

function Top({ parts: { runtime, events }, page }: FrameProps) {
  return (
    <section class="top" aria-label="Emulator">
      <p class="name">
        <strong>gateway-sim</strong> {runtime.version}
        <span class="where">
          <code>{runtime.baseUrl()}</code>
        </span>
      </p>
      <p
        id="live"
        class="live"
        role="status"
        data-on="connected"
        data-off="Disconnected, reconnecting…"
        data-since={events.newest}
      />
      <p id="news" class="unseen" role="status" />
      <nav class="tabs" aria-label="Dashboard">
        <ul>
          {Object.entries(PLACES).map(([place, { name, path }]) => (
            <li>
              <a href={path} aria-current={place === page.place ? 'page' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </section>
  );
}

/** Faults make this emulator behave unlike the others: impossible to overlook while they are on. */
function FaultAlarm({ parts, page: { place, path } }: FrameProps) {
  const faults = parts.faults.list.filter((fault) => !isSpent(fault));
  if (faults.length === 0) return null;
  const isElsewhere = place !== 'faults';
  return (
    <section class="alarm" id="alarm-faults" aria-label="Faults">
      <p>
        <strong>Faults are on.</strong> <span class="roomy">Things go wrong on purpose.</span>{' '}
        {isElsewhere && (
          <a href={PLACES.faults.path}>{faults.length === 1 ? '1 rule' : `${faults.length} rules`}</a>
        )}
      </p>
      <ul class="roomy">
        {faults.slice(0, 5).map((fault) => (
          <li>
            <code>{describeFault(fault)}</code>
          </li>
        ))}
        {faults.length > 5 && <li>and {faults.length - 5} more</li>}
      </ul>
      {isElsewhere && <Form to={`${PLACES.faults.path}/clear`} hidden={{ from: path }} submit="Clear all" />}
    </section>
  );
}

/** A clock that was moved: as impossible to overlook. */
function ClockAlarm({ parts, page: { place, path } }: FrameProps) {
  const { now, frozen, ahead } = parts.clock.read();
  if (!frozen && ahead === 0) return null;
  const isElsewhere = place !== 'clock';
  return (
    <section class="alarm" id="alarm-clock" aria-label="Clock">
      <p>
        <strong>
          <span class="roomy">The emulator's </span>time {frozen ? 'stands still' : 'was moved: it is'}
        </strong>
        {frozen && ' at'} <Time at={timestamp(now)} runs={!frozen} zone />.{' '}
        {isElsewhere && (
          <a class="roomy" href={PLACES.clock.path}>
            Change it
          </a>
        )}
      </p>
      {frozen && isElsewhere && (
        <Form to={PLACES.clock.path} hidden={{ from: path }} send={['move', 'resume']} submit="Resume" />
      )}
    </section>
  );
}
