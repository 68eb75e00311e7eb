import { onTestFinished } from 'vitest';

/** A client that reads every event. If its connection ends, it reconnects and continues after the last event. */
export class EventReader {
  /** The number of the last event that it read. */
  newest = 0;
  readonly #url: string;
  readonly #ended = new AbortController();
  #waiting: (() => void) | undefined;

  constructor(url: string) {
    this.#url = url;
    onTestFinished(() => this.#ended.abort());
    void this.#follow();
  }

  /** Waits until this event has been read. @returns false if that takes longer than the limit */
  async reached(number: number, limitMs = 60_000): Promise<boolean> {
    const until = performance.now() + limitMs;
    for (let left = limitMs; this.newest < number && left > 0; left = until - performance.now()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.newest >= number;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        const headers = { 'Last-Event-ID': String(this.newest) };
        const response = await fetch(`${this.#url}/_sim/events`, { headers, signal });
        let rest = '';
        for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          const events = (rest + text).split('\n\n');
          rest = events.pop() ?? '';
          for (const event of events) this.#take(event);
          this.#waiting?.();
        }
      } catch {
        // The client was disconnected, or the emulator ended. `reached` will return false.
      }
    }
  }

  #take(event: string): void {
    const id = Number(/^id: (\d+)$/m.exec(event)?.[1] ?? 0);
    if (id > 0) this.newest = id;
  }
}
