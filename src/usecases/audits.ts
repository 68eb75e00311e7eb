import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditedCase, AuditReport, AuditRequest, AuditRun } from '../contract/audit-report.ts';
import { auditMistakes, auditSummary } from '../contract/audit-summary.ts';
import { GatewayError } from '../contract/error.ts';
import { timestamp } from '../contract/time.ts';
import type { Clock } from '../system/clock.ts';
import type { EventLog } from './event-log.ts';

interface AuditDependencies {
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
export function createAudits({ clock, events, stopped, audit, report }: AuditDependencies) {
  let last: AuditRun | undefined;
  let isBusy = false;
  let stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();

  const now = () => timestamp(clock.now());

  /** Keeps the progress of an audit and reports it. */
  function show(run: AuditRun, latest?: AuditedCase): AuditRun {
    last = run;
    events.audit({
      state: run.state,
      done: run.cases.length,
      of: run.of,
      latest: latest ? { name: latest.name, verdict: latest.verdict } : null,
    });
    return run;
  }

  function add(audited: AuditedCase): void {
    if (!last) return;
    const cases = [...last.cases, audited];
    show({ ...last, cases, summary: auditSummary(cases), mistakes: auditMistakes(cases) }, audited);
  }

  async function run(request: AuditRequest, onBegin: (run: AuditRun) => void): Promise<void> {
    // Cases that end after the run was aborted are ignored.
    let isOver = false;
    stopping = new AbortController();
    try {
      const result = await audit({
        ...request,
        cancelled: AbortSignal.any([stopped, stopping.signal]),
        onBegin: (of) => onBegin(show(newRun(request, of, now()))),
        onCase: (audited) => !isOver && add(audited),
      });
      if (last) show({ ...last, ...result, state: 'finished', endedAt: now() });
    } finally {
      isOver = true;
    }
  }

  function fail(error: unknown): void {
    if (last?.state !== 'running') return;
    const isKnown = error instanceof GatewayError;
    if (!isKnown && !stopped.aborted) report(error);
    const reason = stopped.aborted ? 'the emulator was stopped' : 'internal error: see the log';
    show({ ...last, state: 'failed', error: isKnown ? error.message : reason, endedAt: now() });
  }

  return {
    get last(): AuditRun | undefined {
      return last;
    },

    /**
     * Starts an audit. Resolves once the request is validated; the audit continues in the background.
     *
     * @throws GatewayError `wrong_state` while another audit runs, `forbidden` for an address that the egress rules block,
     *   `usage` or `invalid_fields`
     */
    async start(request: AuditRequest): Promise<AuditRun> {
      if (isBusy) throw new GatewayError('wrong_state', 'another audit is running: wait until it ends');
      isBusy = true;
      return new Promise<AuditRun>((resolve, reject) => {
        ended = run(request, resolve)
          .catch((error: unknown) => {
            reject(error);
            fail(error);
          })
          .finally(() => {
            isBusy = false;
          });
      });
    },

    /** Ends the current audit, and cancels its pending payments. */
    stop(): Promise<void> {
      stopping.abort(new GatewayError('check_failed', 'the audit was stopped'));
      return ended;
    },

    /** Resolves when no audit is running. */
    ended: (): Promise<void> => ended,
  };
}
export type Audits = ReturnType<typeof createAudits>;

function newRun(options: AuditRequest, of: number, startedAt: string): AuditRun {
  return {
    state: 'running',
    startedAt,
    endedAt: null,
    options,
    of,
    cases: [],
    summary: auditSummary([]),
    mistakes: [],
    missing: null,
    orders: null,
    notices: [],
    error: null,
  };
}
