import type { Child } from 'hono/jsx';
import { describeFault, isSpent } from '../../../domain/fault.ts';
import { timestamp } from '../../../domain/settings.ts';
import type { AppParts } from '../../environment.ts';
import { renderDocument } from '../layout.tsx';
import { Action, Time } from './blocks.tsx';
import { PLACES, type Place, UI } from './navigation.ts';
import { DASHBOARD_STYLES } from './styles.ts';

/** What a form on a page ran into. */
export interface Problem {
  message: string;
  remedy?: string | undefined;
}

/** What every page of the dashboard is made of. */
export interface PageParts {
  place: Place;
  title: string;
  /** Its address. */
  path: string;
  /** Stands over the content; null when all is well. */
  problem: Problem | null;
  /** The page is what a form was answered, and not at its own address. */
  isAnswer?: boolean;
  /** Nothing on it changes by what happens. */
  isStill?: boolean;
  /** Styles of this page alone. */
  styles?: string;
  children: Child;
}

/** A whole page of the dashboard as text. */
export function renderPage(parts: AppParts, nonce: string, page: PageParts): string {
  return renderDocument({
    view: { language: 'en', nonce },
    theme: 'system',
    title: `${page.title} · gateway-sim`,
    styles: DASHBOARD_STYLES + (page.styles ?? ''),
    script: `${UI}/live.js`,
    children: <Frame parts={parts} page={page} />,
  });
}

function Frame({ parts, page }: { parts: AppParts; page: PageParts }) {
  const { facts, activity } = parts;
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <section class="top" aria-label="Emulator">
        <p class="name">
          <strong>gateway-sim</strong> {facts.version}
          <span class="where">
            <code>{facts.baseUrl()}</code>
          </span>
        </p>
        <p
          id="live"
          class="live"
          role="status"
          data-on="connected"
          data-off="emulator gone, waiting for it"
          data-since={activity.newest}
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
      <main
        id="content"
        tabindex={-1}
        data-page={page.isAnswer ? page.path : undefined}
        data-still={page.isStill ? '' : undefined}
      >
        <Trouble parts={parts} page={page} />
        {page.problem && (
          <div class="box alert" role="alert" data-keep="">
            <p>
              <strong>{page.problem.message}</strong>
            </p>
            {page.problem.remedy && <p>{facts.command(page.problem.remedy)}</p>}
          </div>
        )}
        {page.children}
      </main>
    </div>
  );
}

/** What makes this emulator behave unlike the others: impossible to overlook while it is so. */
function Trouble({ parts, page: { place, path } }: { parts: AppParts; page: PageParts }) {
  const faults = parts.faults.list.filter((fault) => !isSpent(fault));
  const { now, frozen, ahead } = parts.clock.read();
  const isMoved = frozen || ahead !== 0;
  return (
    <div id="trouble">
      {faults.length > 0 && (
        <section class="alarm" id="alarm-faults" aria-label="Faults">
          <p>
            <strong>Faults are on.</strong> <span class="roomy">Things go wrong on purpose.</span>{' '}
            {place !== 'faults' && (
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
          {place !== 'faults' && (
            <Action to={`${PLACES.faults.path}/clear`} inline>
              <input type="hidden" name="from" value={path} />
              <button type="submit" class="plain">
                Clear all
              </button>
            </Action>
          )}
        </section>
      )}
      {isMoved && (
        <section class="alarm" id="alarm-clock" aria-label="Clock">
          <p>
            <strong>
              <span class="roomy">The emulator's </span>time {frozen ? 'stands still' : 'was moved: it is'}
            </strong>
            {frozen && ' at'} <Time at={timestamp(now)} runs={!frozen} zone />.{' '}
            {place !== 'clock' && (
              <a class="roomy" href={PLACES.clock.path}>
                Change it
              </a>
            )}
          </p>
          {frozen && place !== 'clock' && (
            <Action to={PLACES.clock.path} inline>
              <input type="hidden" name="from" value={path} />
              <button type="submit" name="move" value="resume" class="plain">
                Resume
              </button>
            </Action>
          )}
        </section>
      )}
    </div>
  );
}

/** What stands on the page of something that is not there, below the reason. */
export function Missing() {
  return (
    <>
      <h1>Not there</h1>
      <p>
        <a href={PLACES.payments.path}>Back to the start</a>
      </p>
    </>
  );
}
