import { setTimeout as pause } from 'node:timers/promises';
import TinyQueue from 'tinyqueue';
import { LONGEST_MOVE_MS } from '../contract/time.ts';

/** Scheduled work on records: IPNs are sent, payments expire or settle automatically. */
export interface DueWork {
  /** Whether the stored record is due at this instant. It may have changed since it was planned. */
  isDue(id: string, at: number): boolean;
  /** Starts the work. Resolves when it is done and stored. Reports its own failures. */
  run(id: string): Promise<void> | undefined;
}

/** Scheduled work: its time and its record. */
interface Planned {
  at: number;
  /** Increases with each plan, to order work with the same instant. */
  turn: number;
  id: string;
  work: DueWork;
}

const byTime = (a: Planned, b: Planned): number => a.at - b.at || a.turn - b.turn;

export type ClockReading = ReturnType<Clock['read']>;

/** The result of a move. `past`: the target is in the past. `late`: the limit of real time was reached. */
export type MoveResult = 'reached' | 'past' | 'late';

/** Waits in real time, at most until the signal is aborted. Never throws. */
export function realPause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return pause(milliseconds, undefined, { signal }).catch(() => {});
}

/** The delay before a retry if something cannot be stored, for example on a full disk. */
const STORE_RETRY_MS = 1_000;

/** Timers stand still while the machine is suspended, so longer waits are split to follow the system clock. */
const LONGEST_TIMER_MS = 10_000;

/**
 * The emulator's time: real time until it is frozen or moved. It goes backwards only by a reset. All scheduled work shares one
 * timer.
 */
export class Clock {
  readonly #waiting = new TinyQueue<Planned>([], byTime);
  #turns = 0;
  /** Work in progress, started by the timer or by a move. */
  readonly #running = new Set<Promise<unknown>>();
  #cancelTimer = () => {};
  #stopped = false;
  #ahead = 0;
  #lastReal = 0;
  /** The instant at which time is paused: frozen, or during a step of a move. */
  #held: number | undefined;
  #frozen = false;
  #lastMove: Promise<unknown> = Promise.resolve();

  /** Milliseconds since 1970, like all times here. */
  now(): number {
    return this.#held ?? this.#realTime() + this.#ahead;
  }

  /** If the system clock is set back, time continues from its last value, so that scheduled work is not delayed. */
  #realTime(): number {
    const real = Date.now();
    if (real < this.#lastReal) this.#ahead += this.#lastReal - real;
    this.#lastReal = real;
    return real;
  }

  read() {
    return {
      now: this.now(),
      frozen: this.#frozen,
      /** How far the emulator's time is ahead of real time, in milliseconds; negative after a pause. */
      ahead: this.#held === undefined ? this.#ahead : this.#held - this.#realTime(),
      /** The instant of the next work; null if nothing is scheduled. */
      nextDue: this.#nextDue() ?? null,
    };
  }

  /** Restores the clock of an earlier run. @param frozenAt null if it was not paused */
  restore(ahead: number, frozenAt: number | null): void {
    this.#ahead = ahead;
    this.#frozen = frozenAt !== null;
    this.#held = frozenAt ?? undefined;
    this.#wake();
  }

  plan(at: number, id: string, work: DueWork): void {
    const due = { at, turn: this.#turns++, id, work };
    this.#waiting.push(due);
    // The timer is reset only for the earliest work, because planning must stay cheap.
    if (this.#waiting.peek() === due) this.#wake();
  }

  retry(id: string, work: DueWork): void {
    this.plan(this.now() + STORE_RETRY_MS, id, work);
  }

  /** Sets the timer for the next work. While time is paused, only work that is due now runs. */
  #wake(): void {
    this.#cancelTimer();
    if (this.#stopped) return;
    const due = this.#nextDue();
    if (due === undefined || (this.#held !== undefined && due > this.#held)) return;
    const wait = Math.min(due - this.now(), LONGEST_TIMER_MS);
    if (wait > 0) {
      const timer = setTimeout(() => this.runDue(), wait);
      this.#cancelTimer = () => clearTimeout(timer);
    } else {
      // In the next turn of the event loop, since the shortest timer takes a millisecond.
      const immediate = setImmediate(() => this.runDue());
      this.#cancelTimer = () => clearImmediate(immediate);
    }
  }

  /** Starts no more work. A move in progress ends early. */
  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
  }

  /**
   * Moves time forward in steps, from one due instant to the next. Waits for the work of each step, including work that
   * falls due because of it. Resolves when all work is done. A frozen clock stays frozen.
   *
   * @param milliseconds how far to move, in the emulator's time; not negative
   * @param limitMs maximum real time that it may take
   */
  advance(milliseconds: number, limitMs?: number): Promise<MoveResult> {
    return this.#inTurn(() => this.#moveTo(this.now() + milliseconds, limitMs));
  }

  /** Pauses time at an instant (default: now), after all work due until then is done, as in `advance`. */
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
      this.#release();
    });
  }

  /** Time is real time again, and may go back. Waits that have begun end at their own times. */
  reset(): Promise<void> {
    return this.#inTurn(async () => {
      this.#frozen = false;
      this.#held = undefined;
      this.#ahead = 0;
      this.#wake();
    });
  }

  /** Moves run one at a time. Otherwise, one could move time back during another. */
  #inTurn<Result>(move: () => Promise<Result>): Promise<Result> {
    const moved = this.#lastMove.then(move);
    this.#lastMove = moved;
    return moved;
  }

  async #moveTo(target: number, limitMs = LONGEST_MOVE_MS): Promise<MoveResult> {
    this.#held = this.now();
    const moved = new AbortController();
    const late = realPause(limitMs, moved.signal).then(() => true);
    // Includes work started before the move: its retry may fall due during the move.
    const isLate = () => Promise.race([Promise.all(this.#running).then(() => false), late]);
    let result: MoveResult = 'late';
    while (!(await isLate())) {
      const due = this.#nextDue();
      if (this.#stopped || due === undefined || due > target) {
        result = 'reached';
        break;
      }
      this.#held = Math.max(due, this.now());
      this.runDue();
      // Lets other requests run between two steps.
      await new Promise((resolve) => setImmediate(resolve));
    }
    moved.abort();
    if (result === 'reached') this.#held = target;
    this.#release();
    return result;
  }

  /** After a move, time continues from here unless it is frozen. */
  #release(): void {
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

  /** Starts the work that is due. Its changes to the state are visible when this returns, and stored later. */
  runDue(): void {
    if (this.#stopped) return;
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
