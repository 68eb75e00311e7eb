import TinyQueue from 'tinyqueue';
import { LONGEST_MOVE_MS } from '../contract/clock.ts';
import { type Due, type DueWork, earlier, soonest } from './due.ts';

export type ClockReading = ReturnType<Clock['read']>;

/** What became of a move: `past` when the wanted instant is behind, `late` when real time was up on the way. */
export type MoveResult = 'reached' | 'past' | 'late';

/** Waits in real time, at most until the signal is aborted. Never throws. */
export function realPause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : milliseconds);
    signal.addEventListener('abort', end);
  });
}

/** @returns what cancels it */
function timer(run: () => void, milliseconds: number): () => void {
  const timeout = setTimeout(run, milliseconds);
  return () => clearTimeout(timeout);
}

/** In the next turn of the event loop: the shortest timer takes a millisecond. Returns what cancels it. */
function soon(run: () => void): () => void {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
}

/** When something cannot be stored (a full disk), it is tried again after this long. */
const STORE_RETRY_MS = 1_000;

/** setTimeout counts in 32 bits; a longer wait is cut into pieces. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The emulator's time: real time until it is frozen or moved, and never going backwards. Everything that waits does
 * so here, on one timer in all, however much is waiting.
 */
export class Clock {
  readonly #waiting = new TinyQueue<Due>([], earlier);
  #turns = 0;
  /** What is being done now, by the timer or by a move. */
  readonly #running = new Set<Promise<unknown>>();
  #cancelTimer = () => {};
  #stopped = false;
  #ahead = 0;
  #lastReal = 0;
  /** The instant at which time stands still: frozen, or on a step of a move. */
  #held: number | undefined;
  #frozen = false;
  #lastMove: Promise<unknown> = Promise.resolve();

  /** Milliseconds since 1970, as all times here. */
  now(): number {
    return this.#held ?? this.#realTime() + this.#ahead;
  }

  /** A system clock that is set back must not hold what waits: time goes on from where it was. */
  #realTime(): number {
    const real = Date.now();
    if (real < this.#lastReal) this.#ahead += this.#lastReal - real;
    this.#lastReal = real;
    return real;
  }

  read() {
    return {
      now: this.now(),
      /** Whether time is paused until it is moved or resumed. */
      frozen: this.#frozen,
      /** How far the emulator's time is ahead of real time, in milliseconds; negative after it stood still. */
      ahead: this.#held === undefined ? this.#ahead : this.#held - this.#realTime(),
      /** The instant of the next thing to be done; null when nothing waits. */
      nextDue: this.#nextDue() ?? null,
    };
  }

  /**
   * Goes on as it stood in an earlier run.
   *
   * @param frozenAt null when it was not paused
   */
  restore(ahead: number, frozenAt: number | null): void {
    this.#ahead = ahead;
    this.#frozen = frozenAt !== null;
    this.#held = frozenAt ?? undefined;
    this.#wake();
  }

  plan(at: number, id: string, work: DueWork): void {
    const due = { at, turn: this.#turns++, id, work };
    this.#waiting.push(due);
    // The timer is set anew only for what comes before all others: planning must stay cheap.
    if (this.#waiting.peek() === due) this.#wake();
  }

  retry(id: string, work: DueWork): void {
    this.plan(this.now() + STORE_RETRY_MS, id, work);
  }

  /** Looks again at what is due next and sets the timer for it. While time stands still only what is due now runs. */
  #wake(): void {
    this.#cancelTimer();
    if (this.#stopped) return;
    const due = this.#nextDue();
    if (due === undefined || (this.#held !== undefined && due > this.#held)) return;
    const wait = Math.min(due - this.now(), LONGEST_TIMER_MS);
    this.#cancelTimer = wait > 0 ? timer(() => this.#runDue(), wait) : soon(() => this.#runDue());
  }

  /** Nothing runs any more; a move under way ends where it is. */
  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
  }

  /**
   * Moves time forward: steps to each due instant in order, waits for what runs there, and goes on with what that
   * made due inside the span. Resolves when everything has run. A frozen clock is frozen afterwards too.
   *
   * @param milliseconds of the emulator's time, not negative
   * @param limitMs maximum real time that it may take
   */
  advance(milliseconds: number, limitMs?: number): Promise<MoveResult> {
    return this.#inTurn(() => this.#moveTo(this.now() + milliseconds, limitMs));
  }

  /** Stops time at an instant (default: now), once everything due until then has run, as `advance` does it. */
  freeze(at?: number, limitMs?: number): Promise<MoveResult> {
    return this.#inTurn(async () => {
      const now = this.now();
      if (at !== undefined && at < now) return 'past';
      this.#frozen = true;
      return this.#moveTo(at ?? now, limitMs);
    });
  }

  resume(): Promise<void> {
    return this.#inTurn(async () => {
      this.#frozen = false;
      this.#letGo();
    });
  }

  /** Moves come one after another, or one would pull time back under the other. */
  #inTurn<Result>(move: () => Promise<Result>): Promise<Result> {
    const moved = this.#lastMove.then(move);
    this.#lastMove = moved;
    return moved;
  }

  async #moveTo(target: number, limitMs = LONGEST_MOVE_MS): Promise<MoveResult> {
    this.#held = this.now();
    const moved = new AbortController();
    const late = realPause(limitMs, moved.signal).then(() => true);
    // Also what was on its way before: its retry may fall into the span.
    const isLate = () => Promise.race([Promise.all(this.#running).then(() => false), late]);
    let result: MoveResult = 'late';
    while (!(await isLate())) {
      const due = this.#nextDue();
      if (this.#stopped || due === undefined || due > target) {
        result = 'reached';
        break;
      }
      this.#held = Math.max(due, this.now());
      this.#runDue();
      // Between two steps everybody else is served.
      await new Promise((resolve) => setImmediate(resolve));
    }
    moved.abort();
    if (result === 'reached') this.#held = target;
    this.#letGo();
    return result;
  }

  /** After a move: time flows again from where it stands, unless it is frozen there. */
  #letGo(): void {
    if (!this.#frozen) {
      this.#ahead = this.now() - this.#realTime();
      this.#held = undefined;
    }
    this.#wake();
  }

  #nextDue(): number | undefined {
    for (let next = this.#waiting.peek(); next; next = this.#waiting.peek()) {
      if (next.work.isDue(next.id, next.at)) return next.at;
      this.#waiting.pop();
    }
    return undefined;
  }

  /** What is to be done next, soonest first and each record once: at most `limit`. */
  upcoming(limit: number): Due[] {
    return soonest(this.#waiting.data, limit);
  }

  #runDue(): void {
    const now = this.now();
    const runs: (Promise<void> | undefined)[] = [];
    for (let at = this.#nextDue(); at !== undefined && at <= now; at = this.#nextDue()) {
      const due = this.#waiting.pop();
      runs.push(due?.work.run(due.id));
    }
    const running = Promise.allSettled(runs);
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    this.#wake();
  }
}
