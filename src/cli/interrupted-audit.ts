import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditedCase } from '../audit/report.ts';
import { usage } from '../contract/error.ts';
import { writeAtomically } from './write-file.ts';

/** Only the owner can read it: responses of a shop may name customers. */
const MODE = 0o600;

/** What an interrupted audit leaves in the folder where it ran, for `--resume`. */
export class InterruptedAudit {
  static readonly file = '.gateway-sim-audit.json';
  readonly #path: string;
  /** What was audited: two audits of the same shop have the same text. */
  readonly #target: string;
  readonly finished: AuditedCase[] = [];

  constructor(cwd: string, target: string) {
    this.#path = join(cwd, InterruptedAudit.file);
    this.#target = target;
  }

  /** The finished cases of the earlier audit. @throws GatewayError `usage` without one of this shop */
  async resume(): Promise<readonly AuditedCase[]> {
    const kept = await readFile(this.#path, 'utf8')
      .then((text) => JSON.parse(text) as { target: string; finished: AuditedCase[] })
      .catch(() => undefined);
    if (kept?.target === this.#target) return kept.finished;
    const other = kept ? `was of ${kept.target}, and not of ${this.#target}` : 'left nothing to continue';
    throw usage(`the last audit in this folder ${other}: run audit without --resume`);
  }

  /** Keeps the finished cases, or removes those of the earlier audit. */
  async end(isInterrupted: boolean, earlier: readonly AuditedCase[] = []): Promise<void> {
    if (!isInterrupted) return rm(this.#path, { force: true });
    const finished = [...earlier, ...this.finished];
    await writeAtomically(this.#path, JSON.stringify({ target: this.#target, finished }), MODE);
  }
}
