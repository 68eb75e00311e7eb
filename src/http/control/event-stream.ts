import { ReadableStream as WebStream } from 'node:stream/web';
import type { AppContext, AppDependencies } from '../environment.ts';
import { simEventView } from './views.ts';

/**
 * A client that falls further behind than this number of events is dropped; it can resume with Last-Event-ID (chosen).
 */
const MAX_BEHIND = 1_000;
/** Time for a dropped client to read the sent events, after which its connection is closed (real time). */
const DROPPED_MS = 10_000;
/** Keeps an idle connection open. */
const HEARTBEAT_MS = 15_000;

/**
 * A stream of events. Each client pulls events from the log at its own pace, so a slow client delays nothing.
 *
 * @param since the last event that the client knows
 * @param follow whether the stream goes on after the newest event
 */
export function eventStream(c: AppContext, parts: AppDependencies, since: number, follow: boolean): Response {
  const stream = WebStream.from(chunks(parts, since, follow, () => c.env?.outgoing?.destroy()));
  return c.body(stream as ReadableStream<Uint8Array>, 200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    'X-Accel-Buffering': 'no',
  });
}

async function* chunks(
  parts: AppDependencies,
  since: number,
  follow: boolean,
  cut: () => void,
): AsyncGenerator<Uint8Array> {
  const {
    events,
    runtime: { stopped },
  } = parts;
  let sent = (events.after(since)?.seq ?? events.newest + 1) - 1;
  let wake = () => {};
  let dropped: NodeJS.Timeout | undefined;
  const onStop = () => wake();
  stopped.addEventListener('abort', onStop);
  const unsubscribe = events.subscribe(({ seq }) => {
    if (seq - sent > MAX_BEHIND) dropped ??= setTimeout(cut, DROPPED_MS).unref();
    wake();
  });
  try {
    if (follow) yield Buffer.from(': connected\n\n');
    while (!dropped) {
      const event = events.after(sent);
      if (event) {
        // The log has dropped an event that was not sent.
        if (event.seq > sent + 1) return;
        sent = event.seq;
        const data = JSON.stringify(simEventView(event, parts));
        yield Buffer.from(`event: ${event.type}\ndata: ${data}\nid: ${event.seq}\n\n`);
        continue;
      }
      if (!follow || stopped.aborted) return;
      const isSilent = await new Promise<boolean>((resolve) => {
        const beat = setTimeout(resolve, HEARTBEAT_MS, true).unref();
        wake = () => {
          clearTimeout(beat);
          resolve(false);
        };
      });
      if (isSilent) yield Buffer.from(': still here\n\n');
    }
  } finally {
    clearTimeout(dropped);
    unsubscribe();
    stopped.removeEventListener('abort', onStop);
  }
}
