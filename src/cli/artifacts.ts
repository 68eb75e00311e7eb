import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { writeAuditReports } from '../audit/artifacts.ts';
import type { AuditRun } from '../contract/audit-report.ts';
import type { Delivery } from '../contract/delivery.ts';
import { usage } from '../contract/error.ts';
import type { SimEvent } from '../contract/event.ts';
import { hint, option } from '../contract/hint.ts';
import { readText } from '../delivery/sender.ts';
import { type ControlServer, MAX_STATE_BYTES } from '../library/control-client.ts';
import { VERSION } from '../system/package-info.ts';
import { harOf } from './har.ts';
import type { Output } from './output.ts';
import { orStorageFailed } from './write-file.ts';

/** The names of artifacts. */
const ARTIFACT = /^(events\.jsonl|ipns\.har|state\.json|audit(-\d+)?\.(html|json|xml))$/;
/** Marks a folder whose artifacts an earlier run wrote, so that this run may replace them. */
const MARK = '.gateway-sim-artifacts';

/** The files that a run of `exec` writes. */
interface Artifacts {
  folder: string;
  /**
   * Writes an event immediately, so that it survives a kill. Writes the reports of an emulator's audit when it ends.
   *
   * @param audit the emulator's last audit: when its end is recorded, the next one may already be running
   */
  record(event: SimEvent, audit: AuditRun | undefined): void;
  /** Writes the rest. Reports a file that cannot be written, and never throws. */
  end(server: ControlServer, audit: AuditRun | undefined): Promise<void>;
}

/** @throws GatewayError `storage_failed` if it cannot be written, `usage` if it contains files that `exec` did not write */
export async function artifactsIn(named: string, cwd: string, output: Output): Promise<Artifacts> {
  const folder = resolve(cwd, named);
  await orStorageFailed(prepare(folder, named), named);
  const events = createWriteStream(join(folder, 'events.jsonl'), { flags: 'wx', mode: 0o600 });
  const onError = (error: Error) => output.notice(`gateway-sim: ${named} is incomplete: ${error.message}`);
  events.on('error', onError);
  const write = (name: string, text: string) =>
    writeFile(join(folder, name), text, { flag: 'wx', mode: 0o600 });
  /** Kept here, because a reset of the state removes them. */
  const deliveries = new Map<string, Delivery>();
  /** The reports of audits that the emulator ran, one after the other. */
  let audits = Promise.resolve();
  const report = ({ cases, summary, mistakes, notices, orders, options }: AuditRun) => {
    const audited = { cases, summary, mistakes, notices, orders: orders ?? 0 };
    audits = audits.then(() => writeAuditReports(folder, audited, options.ipnUrl)).catch(onError);
  };
  return {
    folder,
    record: (event, audit) => {
      if (events.writableEnded) return;
      events.write(`${JSON.stringify(event)}\n`);
      if (event.type === 'delivery') deliveries.set(event.delivery.id, event.delivery);
      if (event.type === 'audit' && event.audit.state !== 'running' && audit) report(audit);
    },
    end: async (server, audit) => {
      const har = async () =>
        write('ipns.har', JSON.stringify(harOf([...deliveries.values()], VERSION), null, 2));
      const state = async () =>
        write('state.json', await readText(await server.open('GET /snapshot'), MAX_STATE_BYTES));
      // The command ended before its audit did. No further cases will run.
      if (audit?.state === 'running') report(audit);
      await Promise.all([
        finished(events.end()).catch(() => undefined),
        har().catch(onError),
        state().catch(onError),
        audits,
      ]);
    },
  };
}

/** Removes the artifacts of an earlier run, and nothing else. */
async function prepare(folder: string, named: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const old = names.filter((name) => ARTIFACT.test(name));
  if (old[0] !== undefined && !names.includes(MARK)) {
    throw usage(`${named} contains ${old[0]}, which exec did not write: nothing was changed`, {
      hint: hint`Choose another folder with ${option('artifacts')}.`,
    });
  }
  for (const name of old) await rm(join(folder, name));
  if (!names.includes(MARK)) await writeFile(join(folder, MARK), '', { flag: 'wx', mode: 0o600 });
}
