import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditedCase, AuditReport, AuditRequest, AuditRun } from '../contract/audit-report.ts';
import { auditMistakes, auditSummary } from '../contract/audit-summary.ts';
import { GatewayError } from '../contract/error.ts';
import { timestamp } from '../contract/time.ts';
import type { Clock } from '../system/clock.ts';
import type { EventLog } from './event-log.ts';

interface AuditParts {
  clock: Clock;
  events: EventLog;
  /** Aborted when the server begins to stop, which ends an audit. */
  stopped: AbortSignal;
  /** Runs an audit. The code is loaded on first use. */
  audit: (options: AuditOptions) => Promise<AuditReport>;
  /** Receives every internal error. */
  report: (error: unknown) => void;
}

/** Runs audits inside the emulator, one at a time. Keeps only the last one, in memory. */
export class Audits {
  readonly #parts: AuditParts;
  #last: AuditRun | undefined;
  #isBusy = false;
  #stopping = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** The current or last audit; undefined before the first. */
  get last(): AuditRun | undefined {
    return this.#last;
  }

  /**
   * Starts an audit. Resolves once the request is validated; the audit continues in the background.
   *
   * @throws GatewayError `wrong_state` while another audit runs, `forbidden` for an address that the egress rules block,
   *   `usage` or `invalid_fields`
   */
  async start(request: AuditRequest): Promise<AuditRun> {
    if (this.#isBusy) {
      throw new GatewayError('wrong_state', 'another audit is running: wait until it ends');
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

  /** Ends the current audit, and cancels its pending payments. */
  stop(): Promise<void> {
    this.#stopping.abort(new GatewayError('check_failed', 'the audit was stopped'));
    return this.#ended;
  }

  /** Resolves when no audit is running. */
  ended(): Promise<void> {
    return this.#ended;
  }

  async #run(request: AuditRequest, onBegin: (run: AuditRun) => void): Promise<void> {
    // Cases that end after the run was aborted are ignored.
    let isOver = false;
    this.#stopping = new AbortController();
    try {
      const report = await this.#parts.audit({
        ...request,
        cancelled: AbortSignal.any([this.#parts.stopped, this.#stopping.signal]),
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
    this.#emit();
    return run;
  }

  #add(audited: AuditedCase): void {
    if (!this.#last) return;
    const cases = [...this.#last.cases, audited];
    this.#last = { ...this.#last, cases, summary: auditSummary(cases), mistakes: auditMistakes(cases) };
    this.#emit(audited);
  }

  #fail(error: unknown): void {
    if (this.#last?.state !== 'running') return;
    const isKnown = error instanceof GatewayError;
    const isStopped = this.#parts.stopped.aborted;
    if (!isKnown && !isStopped) this.#parts.report(error);
    const reason = isStopped ? 'the emulator was stopped' : 'internal error: see the log';
    this.#end({ state: 'failed', error: isKnown ? error.message : reason });
  }

  #end(changes: Partial<AuditRun>): void {
    if (!this.#last) return;
    this.#last = { ...this.#last, ...changes, endedAt: this.#now() };
    this.#emit();
  }

  #emit(latest?: AuditedCase): void {
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
