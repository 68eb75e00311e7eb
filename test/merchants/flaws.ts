import type { AuditReport } from '../../src/contract/audit-report.ts';
import { type Language, prepare } from './running.ts';

/** The classes for which each language has a vulnerable variant. */
export const FLAWS = [
  ...['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'splice', 'once', 'robustness'],
];

/** The classes of the cases that a shop, with a flaw or without, does not pass in an audit by the binary. */
export async function failedClasses(language: Language, flaw = '', only = flaw): Promise<string[]> {
  const { audit, stop } = await prepare(language, flaw);
  const { stdout, stderr } = await audit(['--json', ...(only ? ['--only', only] : [])]);
  await stop();
  if (!stdout) throw new Error(stderr);
  const { cases } = JSON.parse(stdout) as AuditReport;
  const guilty = cases.filter(({ verdict }) => !['pass', 'skipped'].includes(verdict));
  return [...new Set(guilty.map(({ class: kind }) => kind))];
}
