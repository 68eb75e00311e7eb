// The processes that are measured, each with a folder of its own.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BINARY = fileURLToPath(new URL('../../bin/gateway-sim.js', import.meta.url));
const BARE = fileURLToPath(new URL('bare.mjs', import.meta.url));

/** Answers SIGUSR2 with the memory in use after a collection. */
const HEAP_PROBE = `data:text/javascript,${encodeURIComponent(
  "import fs from 'node:fs';process.on('SIGUSR2',()=>{gc();gc();const m=process.memoryUsage();fs.writeFileSync(process.env.BENCH_HEAP+'.new',String(m.heapUsed+m.external));fs.renameSync(process.env.BENCH_HEAP+'.new',process.env.BENCH_HEAP)})",
)}`;

/** A fresh folder, removed when `use` is over. */
export async function inFolder(use) {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-bench-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts a process, waits for its first line, and stops it when `use` is over. */
async function running(args, options, use) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
  const exit = new Promise((resolve) => child.once('exit', resolve));
  try {
    const started = performance.now();
    const line = await firstLine(child);
    const readyMs = performance.now() - started;
    child.stdout.resume();
    return await use({ ...JSON.parse(line), readyMs, child });
  } finally {
    child.kill('SIGTERM');
    await exit;
  }
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}`)));
  });
}

/** Runs the bare server. */
export const withBare = (use) => running([BARE], {}, use);

/** Runs the emulator on a folder, with its state on disk. */
export function withSim(folder, use, { options = [], probe = false } = {}) {
  const environment = { ...process.env, BENCH_HEAP: join(folder, 'heap') };
  const start = [
    'start',
    '--port',
    '0',
    '--json',
    '--quiet',
    '--data-dir',
    join(folder, 'state'),
    ...options,
  ];
  const flags = probe ? ['--expose-gc', '--import', HEAP_PROBE] : [];
  return running([...flags, BINARY, ...start], { cwd: folder, env: environment }, use);
}

/** The bytes in use by an emulator that was started with `probe`. */
export async function bytesInUse(folder, { child }) {
  const file = join(folder, 'heap');
  await rm(file, { force: true });
  child.kill('SIGUSR2');
  for (let tries = 0; tries < 1_000; tries++) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the probe did not answer');
}

/** Runs a command to its end; resolves with how long it took in ms. */
export function timed(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(command, args, { stdio: 'ignore', ...options });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve(performance.now() - started) : reject(new Error(`${command} ended with ${code}`)),
    );
  });
}

/** Processor time that a process has used so far, in ms; NaN where the system does not tell. */
export function processorMs({ child }) {
  try {
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    // In ticks of 10 ms, on every Linux that Node runs on.
    return (Number(user) + Number(system)) * 10;
  } catch {
    return Number.NaN;
  }
}
