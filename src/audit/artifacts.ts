import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditReport } from '../contract/audit-report.ts';

/** Tells an audit inside `exec` where to write its reports. */
export const ARTIFACTS = 'GATEWAY_SIM_ARTIFACTS';

/** An audit's reports, keyed by file name: JSON, HTML and JUnit XML. A second audit does not overwrite the first. */
export function auditReports(
  folder: string,
  report: AuditReport,
  ipnUrl: string,
): [file: string, text: () => Promise<string>][] {
  const free = (stem: string) => !existsSync(join(folder, `${stem}.json`));
  let name = free('audit') ? 'audit' : `audit-${process.pid}`;
  // One process may run several audits.
  for (let number = 2; !free(name); number++) name = `audit-${number}`;
  const stem = join(folder, name);
  return [
    [`${stem}.json`, () => Promise.resolve(JSON.stringify(report))],
    [`${stem}.html`, () => htmlOf(report, ipnUrl)],
    [`${stem}.xml`, () => junitOf(report)],
  ];
}

export async function writeAuditReports(folder: string, report: AuditReport, ipnUrl: string): Promise<void> {
  for (const [file, text] of auditReports(folder, report, ipnUrl))
    await writeFile(file, await text(), { flag: 'wx', mode: 0o600 });
}

/** Loaded only if a report is requested. */
export const htmlOf = async (report: AuditReport, ipnUrl: string): Promise<string> =>
  (await import('./reports.ts')).htmlReport(report, ipnUrl);
export const junitOf = async (report: AuditReport): Promise<string> =>
  (await import('./reports.ts')).junitReport(report);
