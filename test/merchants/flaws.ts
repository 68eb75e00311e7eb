import type { AuditReport } from '../../src/audit/report.ts';
import { run, startBinary } from '../helpers/binary.ts';
import { killGroup } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { SECRET } from './node-shop.ts';
import { type ShopLanguage, startShopIn } from './running.ts';

/** The classes for which each language has a vulnerable variant. */
export const FLAWS = [
  ...['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'splice', 'once', 'robustness'],
];

/** The classes of the cases that a shop, with or without a flaw, does not pass when the binary audits it. */
export async function failedClasses(language: ShopLanguage, flaw = '', only = flaw): Promise<string[]> {
  const cwd = await temporaryFolder();
  const { ready, pid, ended } = await startBinary(['--in-memory', '--secret-key', SECRET], { cwd });
  const { url, stop } = await startShopIn(language, ready, flaw);
  const probing = ['--probe-url', `${url}/orders/{identifier}`, '--paid-when', '.status=paid'];
  const args = ['--order-url', `${url}/order`, ...probing, '--json', ...(only ? ['--only', only] : [])];
  const env = { GATEWAY_SIM_URL: ready.url };
  const { stdout, stderr } = await run(['audit', `${url}/ipn`, ...args], { cwd, env });
  // A long run starts many.
  killGroup(pid);
  await Promise.all([stop(), ended]);
  if (!stdout) throw new Error(stderr);
  const { cases } = JSON.parse(stdout) as AuditReport;
  const guilty = cases.filter(({ verdict }) => !['pass', 'skipped'].includes(verdict));
  return [...new Set(guilty.map(({ class: kind }) => kind))];
}
