import { live, main, news, refreshSoon, setConnected } from './shown-page.ts';

const PAUSE_MS = 500;
const NEWS_MS = 4000;
const RETRY_MS = 5000;

// Events do not change the content of this page, only the frame around it, which `notice` events update.
const isStill = main.hasAttribute('data-still');
let events: EventSource | undefined;
let newsTimer: number | undefined;
let lastNewsAt = 0;
let unreported = 0;
let last: MessageEvent<string> | undefined;

/** Announces the last event and the number of events to screen readers, at intervals. */
function onEvent(event: MessageEvent<string>): void {
  if (event.lastEventId) live.dataset['since'] = event.lastEventId;
  if (!isStill || event.type === 'notice') refreshSoon();
  if (event.type === 'request') return;
  unreported++;
  last = event;
  if (newsTimer === undefined)
    newsTimer = setTimeout(report, Math.max(PAUSE_MS, lastNewsAt + NEWS_MS - Date.now()));
}

function report(): void {
  newsTimer = undefined;
  if (!last) return;
  const what = describeEvent(last.type, JSON.parse(last.data) as EventData);
  news.textContent = unreported > 1 ? `${unreported} changes, latest: ${what}` : what;
  lastNewsAt = Date.now();
  unreported = 0;
}

type EventRecord = { identifier: string; status?: string; state?: string };
type AuditProgress = { state: string; done: number; of: number };
type EventData = Partial<Record<'payment' | 'delivery' | 'message', EventRecord>> & {
  audit?: AuditProgress;
  text?: string;
};

function describeEvent(type: string, { payment, delivery, message, audit, text }: EventData): string {
  if (type === 'payment') return `Payment ${payment?.identifier} ${payment?.status}`;
  if (type === 'delivery') return `IPN of ${delivery?.identifier} ${delivery?.state}`;
  if (type === 'message') return `Code for ${message?.identifier}`;
  if (audit) return `Audit ${audit.state}: ${audit.done} of ${audit.of}`;
  return text ?? 'Card transaction';
}

/** Subscribes to events and keeps the page up to date. */
export function connect(): void {
  if (events || document.hidden) return;
  const source = new EventSource(`${live.dataset['events']}?since=${live.dataset['since']}`);
  events = source;
  source.onopen = () => setConnected(true);
  source.onerror = () => {
    setConnected(false);
    if (source.readyState !== EventSource.CLOSED) return;
    // The browser does not reconnect after an error status, but the proxy that sent it may recover.
    events = undefined;
    setTimeout(connect, RETRY_MS);
    refreshSoon();
  };
  for (const type of ['request', 'payment', 'delivery', 'message', 'cardTransaction', 'audit', 'notice'])
    source.addEventListener(type, onEvent);
}

function disconnect(): void {
  events?.close();
  events = undefined;
}

function resume(): void {
  connect();
  if (!isStill) refreshSoon();
}

// Browsers limit the number of connections to a host, so a hidden tab closes its own.
document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : resume()));
addEventListener('pagehide', disconnect);
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) resume();
});
