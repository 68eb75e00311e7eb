import { writeFile } from 'node:fs/promises';
import type { AuditReport } from './report.ts';

/** Tells an audit inside `exec` where to write its reports. */
export const ARTIFACTS = 'GATEWAY_SIM_ARTIFACTS';

export async function writeAuditReports(folder: string, report: AuditReport, ipnUrl: string): Promise<void> {
  // Loaded only if a report is requested.
  const { auditReports } = await import('./reports.ts');
  for (const [file, text] of auditReports(folder, report, ipnUrl))
    await writeFile(file, text(), { flag: 'wx', mode: 0o600 });
}
