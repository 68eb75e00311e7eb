import { describeFault, isSpent } from '../../../contract/active-fault.ts';
import { command, renderHint } from '../../../contract/error.ts';
import { timestamp } from '../../../contract/time.ts';
import { namesOf } from '../../../contract/vocabulary.ts';
import { VERSION } from '../../../system/package-info.ts';
import { type AppContext, type AppDependencies, basePath } from '../../environment.ts';
import { below, Link, renderDocument, secure } from '../layout.tsx';
import { Time } from './blocks.tsx';
import { Form } from './forms.tsx';
import { type Page, PageContext, type Refusal } from './page.tsx';
import { CLEAR_FAULTS, FAULTS, LISTS, PLACES, RESUME_CLOCK, UI } from './paths.ts';
import { againstReal } from './text.ts';

/** Renders a whole dashboard page, with any error on top. */
export function renderPage(c: AppContext, parts: AppDependencies, page: Page, refusal?: Refusal): string {
  const { runtime, clock } = parts;
  const base = basePath(runtime);
  const { now, frozen } = clock.read();
  return renderDocument(
    { language: 'en', theme: 'system', nonce: secure(c, { script: 'own' }), base },
    `${page.title} · gateway-sim`,
    [
      <link rel="stylesheet" href={`${base}${UI}/dashboard.css`} />,
      <script src={`${base}${UI}/live.js`} defer />,
    ],
    <PageContext.Provider value={{ style: runtime.style, now, mask: parts.secrets.mask, refusal }}>
      <div class="frame">
        <a class="skip" href="#content">
          Skip to content
        </a>
        <Top parts={parts} page={page} />
        <Navigation page={page} />
        <main
          id="content"
          tabindex={-1}
          data-still={page.isStill ? '' : undefined}
          data-now={timestamp(now)}
          data-frozen={frozen ? '' : undefined}
        >
          <div id="trouble" role="status">
            <FaultChip parts={parts} page={page} />
            <ClockChip parts={parts} page={page} />
          </div>
          {refusal && (
            <div class="box alert" id="problem" role="alert" data-keep="">
              {refusal.error.problems.map((problem) => (
                <p>
                  <strong>{problem}</strong>
                </p>
              ))}
              {refusal.error.hint && <p>{renderHint(refusal.error.hint, runtime.style)}</p>}
            </div>
          )}
          {page.content}
        </main>
        <footer class="foot">
          Documentation: <code>{runtime.style.command(command('docs'))}</code>{' '}
          <Link href="/_sim/openapi.json">OpenAPI document</Link>
        </footer>
      </div>
    </PageContext.Provider>,
  );
}

interface FrameProps {
  parts: AppDependencies;
  page: Page;
}

function Top({ parts: { runtime, events }, page: { place, query } }: FrameProps) {
  const list = LISTS.find((name) => name === place) ?? 'payments';
  return (
    <section class="top" aria-label="Emulator">
      <p class="brand">
        <Link href={PLACES.payments.path}>gateway-sim</Link> <span class="roomy">{VERSION}</span>{' '}
        <code class="roomy">{runtime.baseUrl()}</code>
      </p>
      <p
        id="live"
        class="live"
        role="status"
        data-on="connected"
        data-off="Disconnected, reconnecting…"
        data-events={below('/_sim/events')}
        data-since={events.newest}
      />
      <search>
        <form method="get" action={below(PLACES[list].path)}>
          <label class="unseen" for="search">
            Search
          </label>
          <input
            id="search"
            type="search"
            name="text"
            value={query}
            placeholder={`Search ${PLACES[list].name.toLowerCase()}`}
            autocomplete="off"
          />
        </form>
      </search>
    </section>
  );
}

function FaultChip({ parts, page: { path } }: FrameProps) {
  const faults = parts.faults.list.filter((fault) => !isSpent(fault)).map(describeFault);
  if (faults.length === 0) return null;
  return (
    <section class="chip" id="alarm-faults" aria-label="Active faults">
      <Link href={FAULTS} title={faults.slice(0, 20).join('\n')}>
        {faults.length === 1 ? '1 fault active' : `${faults.length} faults active`}
      </Link>
      <code class="roomy">{faults[0]}</code>
      <Form to={CLEAR_FAULTS} hidden={{ from: path }} submit="Clear all" />
    </section>
  );
}

function ClockChip({ parts, page: { path } }: FrameProps) {
  const { now, frozen, ahead } = parts.clock.read();
  if (!frozen && ahead === 0) return null;
  return (
    <section class="chip" id="alarm-clock" aria-label="Changed clock">
      <strong>{frozen ? 'Clock is paused' : againstReal(ahead)}</strong>
      {frozen && (
        <>
          <span class="roomy">
            at <Time at={timestamp(now)} zone />
          </span>
          <Form to={RESUME_CLOCK} hidden={{ from: path }} submit="Resume" />
        </>
      )}
    </section>
  );
}

function Navigation({ page }: { page: Page }) {
  return (
    <nav class="tabs" aria-label="Dashboard">
      <ul>
        {namesOf(PLACES).map((place) => (
          <li>
            <Link href={PLACES[place].path} aria-current={place === page.place ? 'page' : undefined}>
              {PLACES[place].name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
