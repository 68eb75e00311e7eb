import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { command, GatewayError, hint, SECOND_EMULATOR } from '../contract/error.ts';
import { controlServer } from '../library/control-client.ts';
import { requireMerchant } from '../library/merchant-client.ts';
import { givenAs, isGivenByUser } from '../options/resolve.ts';
import { type OptionName, type ResolvedOptions, START_OPTIONS } from '../options/start-options.ts';
import { LOG_FILE, makeDataFolder } from '../store/folder.ts';
import { readServerInfo } from '../store/server-file.ts';
import { onFolder, openFile, unwritable } from '../system/files.ts';
import { announce, detachedBannerText, readyEvent } from './banner.ts';
import type { Context } from './command.ts';
import { PROBE_MS, probe } from './connect.ts';
import { MARK, type Report, type Started } from './detached.ts';

/** Starts an emulator in its own process, unless one with these options is already running. */
export async function startInBackground(options: ResolvedOptions, context: Context): Promise<void> {
  const { io, output } = context;
  const running = await runningOn(options);
  const { ready, notices, log } = running ?? (await detach(options));
  announce(ready, notices, output, () => detachedBannerText(ready, log, output, io.cwd));
}

/** The emulator that already uses the folder; undefined if none responds. */
async function runningOn(options: ResolvedOptions): Promise<(Started & { log: string }) | undefined> {
  const folder = resolve(options.dataDir);
  const found = options.inMemory ? undefined : await readServerInfo(folder);
  if (!found || (await probe(found, PROBE_MS)) !== 'ready') return undefined;
  const { url, controlToken } = found;
  const server = controlServer(found);
  const { publicKey, secretKey } = await requireMerchant(server);
  const status = await server.call('GET /status');
  const { dataDir, tlsCa, pid } = status;
  const port = Number(new URL(url).port);
  const secrets = { publicKey, secretKey, controlToken };
  const differing = firstDiffering(options, { ...status.options, ...secrets, port });
  if (differing !== undefined) {
    throw new GatewayError(
      'folder_in_use',
      `the emulator at ${url} (process ${pid}) was started with a different ${differing}`,
      { hint: hint`${SECOND_EMULATOR}, or stop this one with: ${command('stop')}` },
    );
  }
  const emulator = { url, port, ...secrets, dataDir, tlsCa, pid };
  return {
    ready: readyEvent(emulator, status.url, status.options['proxy'] === true),
    notices: [`gateway-sim: already running at ${url} with these options`],
    log: join(folder, LOG_FILE),
  };
}

/** The first option that the user set and whose effective value differs, by its flag, variable or key. */
function firstDiffering(requested: ResolvedOptions, effective: Readonly<Record<string, unknown>>) {
  return (Object.keys(START_OPTIONS) as OptionName[])
    .filter((name) => !('commandOnly' in START_OPTIONS[name]))
    .filter((name) => JSON.stringify(requested[name]) !== JSON.stringify(effective[name]))
    .filter((name) => name !== 'port' || requested.port !== 0)
    .map((name) => givenAs(requested, name))
    .find((label) => label !== undefined);
}

/**
 * Runs the same command line again in its own session, and waits until that process is ready. Its log is in the data
 * folder, or in the system's temporary folder for an emulator in memory.
 */
async function detach(options: ResolvedOptions): Promise<Started & { log: string }> {
  const { inMemory, dataDir } = options;
  const log = inMemory
    ? join(tmpdir(), `gateway-sim-${randomBytes(6).toString('hex')}.log`)
    : join(resolve(dataDir), LOG_FILE);
  const file = await onFolder(dirname(log), async () => {
    if (!inMemory) await makeDataFolder(dirname(log), isGivenByUser(options, 'dataDir'));
    // Appends, because another emulator may use the folder and its log.
    const opened = await openFile(log, 'append', { isOurs: true, isAlone: true }).catch((cause: Error) => {
      throw 'syscall' in cause ? cause : unwritable(log, cause, hint`Remove it.`);
    });
    // An existing file may be readable by others.
    await opened.chmod(0o600);
    return opened;
  });
  try {
    const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      detached: true,
      stdio: ['ignore', file.fd, file.fd, 'ipc'],
      env: { ...process.env, [MARK]: inMemory ? log : '' },
    });
    const report = await new Promise<Report>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Report));
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        reject(
          new GatewayError('internal', `the emulator exited with ${signal ?? code} before it was ready`, {
            hint: hint`See its log: ${log}`,
          }),
        ),
      );
    });
    await new Promise((resolve) => child.send('taken', resolve));
    if (child.connected) child.disconnect();
    child.unref();
    if ('ready' in report) return { ...report, log };
    const { code, message, ...details } = report.failure;
    throw code === undefined ? new Error(message) : new GatewayError(code, message, details);
  } catch (error) {
    if (inMemory) await rm(log, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
