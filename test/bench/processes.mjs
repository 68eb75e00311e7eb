// Runs the measured processes, each in its own folder.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const BINARY = join(ROOT, 'bin/gateway-sim.js');
const BARE = fileURLToPath(new URL('bare.mjs', import.meta.url));

/**
 * The variables of a shell: those of npm would change the output, and additional certificates would slow every start.
 */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_|GATEWAY_SIM_|NODE_EXTRA_CA_CERTS$|NODE_OPTIONS$)/i.test(name),
  ),
);

const folders = new Set();
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
// Otherwise, an interrupt would leave emulators and large folders behind.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Creates a folder, and removes it when `use` is over. */
export async function inFolder(use) {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-bench-'));
  folders.add(folder);
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    folders.delete(folder);
  }
}

/** The state folder of an emulator that runs in this folder. */
export const stateFolder = (folder) => join(folder, '.gateway-sim');

/**
 * Starts a process, waits for its first line, and ends it when `use` is over.
 *
 * @returns the result of `use`, which gets the parsed line, `startedAt` and `readyMs`
 */
export function running(args, options, use) {
  return spawned(args, options, async ({ child, startedAt }) => {
    const line = await firstLine(child);
    const readyMs = performance.now() - startedAt;
    return use({ ...JSON.parse(line), startedAt, readyMs, child });
  });
}

/** Starts a process, and ends it when `use` is over. */
export async function spawned(args, { signal = 'SIGTERM', ...options }, use) {
  const startedAt = performance.now();
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, args, { stdio, env: ENVIRONMENT, ...options });
  children.add(child);
  const exit = new Promise((resolve) => child.once('exit', resolve));
  try {
    return await use({ child, startedAt });
  } finally {
    child.kill(signal);
    await exit;
    children.delete(child);
  }
}

function firstLine(child) {
  const ended = whyEnded(child);
  const line = new Promise((resolve) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
  });
  return Promise.race([line, ended]);
}

/** Rejects when a process ends, with its last output. Never resolves. */
export function whyEnded(child) {
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  return new Promise((_, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const lines = said.split('\n');
      reject(new Error(`it ended with ${code}: ${lines.find((line) => line.includes('Error')) ?? lines[0]}`));
    });
  });
}

/** Runs the bare server. */
export const withBare = (use) => running([BARE], {}, use);

/** Runs the emulator in a folder, with its state on disk. */
export function withSim(folder, use, signal) {
  const args = [BINARY, 'start', '--port', '0', '--json', '--quiet'];
  return running(args, { cwd: folder, signal }, use);
}

/** Runs the emulator in its own folder. */
export function withFreshSim(use) {
  return inFolder((folder) => withSim(folder, use));
}

/** Runs several servers at the same time: `together([withBare, withFreshSim], ([bare, sim]) => …)`. */
export function together([start, ...others], use, started = []) {
  return start ? start((one) => together(others, use, [...started, one])) : use(started);
}

/** The resident memory of a process, as the system shows it; NaN if it does not. */
export function residentBytes({ child }) {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}

/** Runs a Node command to its end; resolves with its duration in ms. */
export function timed(args, options) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, args, { stdio: 'ignore', env: ENVIRONMENT, ...options });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0
        ? resolve(performance.now() - started)
        : reject(new Error(`${args.join(' ')} ended with ${code}`)),
    );
  });
}

/** The CPU time of a process so far, in ms; NaN if the system does not report it. */
export function processorMs({ child }) {
  try {
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    // In ticks of 10 ms on every Linux that Node supports.
    return (Number(user) + Number(system)) * 10;
  } catch {
    return Number.NaN;
  }
}
