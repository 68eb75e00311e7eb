import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditedCase } from '../audit/report.ts';
import type { AuditVerdict } from '../audit/vocabulary.ts';
import { usage } from '../contract/error.ts';
import { readText } from '../system/files.ts';
import { writeAtomically } from './write-file.ts';

/** Only the owner can read it: responses of a shop may name customers. */
const MODE = 0o600;
/** A thorough audit writes a tenth of it. */
const MAX_BYTES = 2 ** 23;

/** Verdicts that an interruption did not cause. */
const DECIDED: readonly AuditVerdict[] = ['pass', 'fail', 'at-risk', 'note'];

/** What an interrupted audit leaves in the folder where it ran, for `--resume`. */
export class InterruptedAudit {
  static readonly file = '.gateway-sim-audit.json';
  readonly #path: string;
  /** Identifies what was audited, and how. A hash, because addresses and commands may have passwords. */
  readonly #target: string;
  readonly finished: AuditedCase[] = [];

  /** @param asked everything that decides the verdict of a case */
  constructor(cwd: string, asked: object) {
    this.#path = join(cwd, InterruptedAudit.file);
    this.#target = createHash('sha256').update(JSON.stringify(asked)).digest('hex');
  }

  /** The finished cases of the earlier audit. @throws GatewayError `usage` without one of this shop */
  async resume(): Promise<readonly AuditedCase[]> {
    const kept = await this.#kept();
    if (kept?.target === this.#target) return kept.finished;
    const other = kept ? 'was of another shop, or had other options' : 'left nothing to continue';
    throw usage(`the last audit in this folder ${other}: run audit without --resume`);
  }

  /** Keeps the decided cases. @returns whether there are any */
  async keep(earlier: readonly AuditedCase[] = []): Promise<boolean> {
    const finished = [...earlier, ...this.finished].filter(({ verdict }) => DECIDED.includes(verdict));
    if (!finished.length) return false;
    await writeAtomically(this.#path, JSON.stringify({ target: this.#target, finished }), MODE);
    return true;
  }

  /** Removes what an earlier audit of this shop has kept. */
  async forget(): Promise<void> {
    const kept = await this.#kept().catch(() => undefined);
    if (kept?.target === this.#target) await rm(this.#path);
  }

  async #kept() {
    const guard = { isOurs: true, isSecret: true, maxBytes: MAX_BYTES };
    const unusable = (why: string) =>
      usage(`${InterruptedAudit.file} cannot be used: ${why}. Run audit without --resume`);
    const text = await readText(this.#path, guard).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw unusable(error.message);
    });
    if (text === undefined) return undefined;
    const { KeptAudit } = await import('../audit/report.ts');
    try {
      return KeptAudit.parse(JSON.parse(text));
    } catch {
      throw unusable('it is damaged');
    }
  }
}
