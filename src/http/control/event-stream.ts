import type { SimEvent } from '../../contract/event.ts';
import type * as happened from '../../usecases/event-log.ts';
import type { AppContext, AppParts } from '../environment.ts';

/** What may wait for one client: then it is dropped, and goes on by Last-Event-ID (chosen). The log keeps as many. */
const MAX_WAITING_EVENTS = 1_000;
const MAX_WAITING_BYTES = 4 * 2 ** 20;
/** A dropped client has this long to take what was sent before its connection is cut, in real time. */
const DROPPED_MS = 10_000;
const HEARTBEAT_MS = 15_000;

/**
 * The streams of events. A client that does not read costs a queue of its own, whose texts all clients share.
 *
 * @param view an event as the control API shows it
 */
export function eventStreams(
  { events, runtime }: Pick<AppParts, 'events' | 'runtime'>,
  view: (event: happened.SimEvent) => SimEvent,
) {
  const encode = lastKept((event: happened.SimEvent) =>
    Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(view(event))}\nid: ${event.seq}\n\n`),
  );
  return (c: AppContext, since: number, follow: boolean): Response => {
    const past = events.since(since);
    const cut = () => c.env?.outgoing?.destroy();
    const queue = new Queue(() => past.shift(), encode, cut);
    if (follow) {
      queue.add(Buffer.from(': connected\n\n'));
      const unsubscribe = events.subscribe((event) => queue.add(encode(event)));
      const heartbeat = setInterval(() => queue.beat(), HEARTBEAT_MS);
      const stop = () => queue.end();
      runtime.stopped.addEventListener('abort', stop);
      queue.ended.then(() => {
        unsubscribe();
        clearInterval(heartbeat);
        runtime.stopped.removeEventListener('abort', stop);
      });
    } else queue.end();
    return c.body(queue.stream, 200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      'X-Accel-Buffering': 'no',
    });
  };
}

/** All clients are told of an event in turn, so keeping its text until the next event serialises it once. */
function lastKept<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  let last: { key: Key; value: Value } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: make(key) };
    return last.value;
  };
}

/** What waits for one client. */
class Queue {
  readonly stream: ReadableStream<Uint8Array>;
  /** Resolves when nothing more is added. */
  readonly ended: Promise<void>;
  #finish: () => void = () => {};
  #wake: () => void = () => {};
  #waiting: Buffer[] = [];
  #bytes = 0;
  #isEnded = false;
  #cutTimer: NodeJS.Timeout | undefined;
  readonly #cut: () => void;

  /**
   * @param past what happened before, oldest first; it is taken when the client is ready for it, and does not wait here
   * @param cut ends the connection of a client that does not read
   */
  constructor(
    past: () => happened.SimEvent | undefined,
    encode: (event: happened.SimEvent) => Buffer,
    cut: () => void,
  ) {
    this.#cut = cut;
    this.ended = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const event = past();
          if (event) return controller.enqueue(encode(event));
          while (!this.#waiting.length && !this.#isEnded) await this.#more();
          const [first] = this.#waiting.splice(0, 1);
          this.#bytes -= first?.length ?? 0;
          if (first) return controller.enqueue(first);
          clearTimeout(this.#cutTimer);
          controller.close();
        },
        cancel: () => {
          clearTimeout(this.#cutTimer);
          this.end();
        },
      },
      { highWaterMark: 0 },
    );
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  add(text: Buffer): void {
    if (this.#isEnded) return;
    this.#waiting.push(text);
    this.#bytes += text.length;
    if (this.#waiting.length > MAX_WAITING_EVENTS || this.#bytes > MAX_WAITING_BYTES) this.#drop();
    this.#wake();
  }

  /** Keeps a connection open on which nothing happens. */
  beat(): void {
    if (!this.#waiting.length) this.add(Buffer.from(': still here\n\n'));
  }

  /** Nothing comes any more; what waits is still sent. */
  end(): void {
    this.#isEnded = true;
    this.#finish();
    this.#wake();
  }

  #drop(): void {
    this.#waiting = [];
    this.#cutTimer = setTimeout(this.#cut, DROPPED_MS);
    this.#cutTimer.unref();
    this.end();
  }
}
