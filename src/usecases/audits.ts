import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditedCase, AuditReport, AuditRequest, AuditRun } from '../contract/audit-report.ts';
import { auditMistakes, auditSummary } from '../contract/audit-summary.ts';
import { GatewayError } from '../contract/error.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { Clock } from '../system/clock.ts';
import type { EventLog } from './event-log.ts';

interface AuditParts {
  clock: Clock;
  events: EventLog;
  /** Aborted when the server begins to stop: an audit ends then. */
  stopped: AbortSignal;
  /** Carries an audit out; loaded only when there is one. */
  audit: (options: AuditOptions) => Promise<AuditReport>;
  /** Gets every fault of ours. */
  report: (error: unknown) => void;
}

/** Audits by the emulator itself, one at a time. Only the last one is kept, in memory. */
export class Audits {
  readonly #parts: AuditParts;
  #last: AuditRun | undefined;
  #isBusy = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** The one that runs, or ran last; undefined when there was none. */
  get last(): AuditRun | undefined {
    return this.#last;
  }

  /**
   * Starts an audit. Resolves as soon as nothing is wrong with what it is asked for, and goes on by itself.
   *
   * @throws GatewayError `wrong_state` while one runs, `forbidden` for an address that the egress rules do not allow,
   *   `usage` or `invalid_fields`
   */
  async start(request: AuditRequest): Promise<AuditRun> {
    if (this.#isBusy) {
      throw new GatewayError('wrong_state', 'an audit is running: there is one at a time');
    }
    this.#isBusy = true;
    return new Promise<AuditRun>((resolve, reject) => {
      this.#ended = this.#run(request, resolve)
        .catch((error: unknown) => {
          reject(error);
          this.#fail(error);
        })
        .finally(() => {
          this.#isBusy = false;
        });
    });
  }

  /** Resolves when none runs any more. */
  ended(): Promise<void> {
    return this.#ended;
  }

  async #run(request: AuditRequest, onBegin: (run: AuditRun) => void): Promise<void> {
    // Cases that were under way when one of them broke the run end after it.
    let isOver = false;
    try {
      const report = await this.#parts.audit({
        ...request,
        cancelled: this.#parts.stopped,
        onBegin: (of) => onBegin(this.#begin(request, of)),
        onCase: (audited) => !isOver && this.#add(audited),
      });
      this.#end({ ...report, state: 'finished' });
    } finally {
      isOver = true;
    }
  }

  #begin(options: AuditRequest, of: number): AuditRun {
    const run: AuditRun = {
      state: 'running',
      startedAt: this.#now(),
      endedAt: null,
      options,
      of,
      cases: [],
      summary: auditSummary([]),
      mistakes: [],
      orders: null,
      notices: [],
      error: null,
    };
    this.#last = run;
    this.#tell();
    return run;
  }

  #add(audited: AuditedCase): void {
    if (!this.#last) return;
    const cases = [...this.#last.cases, audited];
    this.#last = { ...this.#last, cases, summary: auditSummary(cases), mistakes: auditMistakes(cases) };
    this.#tell(audited);
  }

  #fail(error: unknown): void {
    if (this.#last?.state !== 'running') return;
    const isKnown = error instanceof GatewayError;
    const isStopped = this.#parts.stopped.aborted;
    if (!isKnown && !isStopped) this.#parts.report(error);
    const inside = isStopped ? 'the emulator was stopped' : 'it failed inside: the log says more';
    this.#end({ state: 'failed', error: isKnown ? error.message : inside });
  }

  #end(changes: Partial<AuditRun>): void {
    if (!this.#last) return;
    this.#last = { ...this.#last, ...changes, endedAt: this.#now() };
    this.#tell();
  }

  #tell(latest?: AuditedCase): void {
    if (!this.#last) return;
    const { state, cases, of } = this.#last;
    this.#parts.events.audit({
      state,
      done: cases.length,
      of,
      latest: latest ? { name: latest.name, verdict: latest.verdict } : null,
    });
  }

  #now(): string {
    return timestamp(this.#parts.clock.now());
  }
}
