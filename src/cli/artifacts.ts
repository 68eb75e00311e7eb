import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import type { AuditReport } from '../contract/audit-report.ts';
import type { Delivery } from '../contract/delivery.ts';
import type { SimEvent } from '../contract/event.ts';
import { readText } from '../delivery/sender.ts';
import type { ControlServer } from '../library/control-client.ts';
import { MAX_STATE_BYTES } from '../library/request.ts';
import { VERSION } from '../system/package-info.ts';
import { harOf } from './har.ts';
import type { Output } from './output.ts';
import { orStorageFailed } from './write-file.ts';

/** By this variable an `audit` inside of `exec` knows where its reports are wanted. */
export const ARTIFACTS = 'GATEWAY_SIM_ARTIFACTS';

/** What we write; of an earlier run it is removed. */
const OURS = /^(events\.jsonl|ipns\.har|state\.json|audit(-\d+)?\.(html|json|xml))$/;

/** What a run leaves for those who want to know what happened in it. */
export interface Artifacts {
  folder: string;
  /** Writes an event at once, so that a run that is killed leaves it, too. */
  record(event: SimEvent): void;
  /** Writes the rest. What cannot be written is told, and changes nothing else. */
  end(server: ControlServer): Promise<void>;
}

/** @throws GatewayError `storage_failed` when there is no place for them */
export async function artifactsIn(named: string, cwd: string, output: Output): Promise<Artifacts> {
  const folder = resolve(cwd, named);
  await orStorageFailed(clear(folder), named);
  const events = createWriteStream(join(folder, 'events.jsonl'), { flags: 'wx', mode: 0o600 });
  const tell = (error: Error) => output.notice(`gateway-sim: ${named} is not complete: ${error.message}`);
  events.on('error', tell);
  const write = (name: string, text: string) =>
    writeFile(join(folder, name), text, { flag: 'wx', mode: 0o600 });
  /** A reset of the state forgets them. */
  const deliveries = new Map<string, Delivery>();
  return {
    folder,
    record: (event) => {
      events.write(`${JSON.stringify(event)}\n`);
      if (event.type === 'delivery') deliveries.set(event.delivery.id, event.delivery);
    },
    end: async (server) => {
      const state = async () =>
        write('state.json', await readText(await server.open('GET /snapshot'), MAX_STATE_BYTES));
      await Promise.all([
        finished(events.end()).catch(() => undefined),
        write('ipns.har', JSON.stringify(harOf([...deliveries.values()], VERSION), null, 2)).catch(tell),
        state().catch(tell),
      ]);
    },
  };
}

async function clear(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (OURS.test(name)) await rm(join(folder, name));
}

/** The reports that an audit leaves there, by file: as JSON, as a page and as JUnit XML. A second audit leaves the first alone. */
export function auditReports(
  folder: string,
  report: AuditReport,
  ipnUrl: string,
): [file: string, text: () => Promise<string>][] {
  const stem = join(folder, existsSync(join(folder, 'audit.json')) ? `audit-${process.pid}` : 'audit');
  return [
    [`${stem}.json`, () => Promise.resolve(JSON.stringify(report))],
    [`${stem}.html`, () => htmlOf(report, ipnUrl)],
    [`${stem}.xml`, () => junitOf(report)],
  ];
}

/** Loaded only where a report is asked for. */
export const htmlOf = async (report: AuditReport, ipnUrl: string): Promise<string> =>
  (await import('../audit/html-report.ts')).htmlReport(report, ipnUrl);
export const junitOf = async (report: AuditReport): Promise<string> =>
  (await import('../audit/junit-report.ts')).junitReport(report);
