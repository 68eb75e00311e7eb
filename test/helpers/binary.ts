import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const BINARY = fileURLToPath(new URL('../../bin/gateway-sim.js', import.meta.url));

/** What a finished process left behind. */
export interface Finished {
  /** null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A process of the real binary. */
export interface Running {
  child: ChildProcess;
  pid: number;
  /** What it has written so far. */
  stdout: () => string;
  stderr: () => string;
  /** Resolves with stdout and stderr as soon as the condition holds for them; rejects when the process ends before. */
  until: (holds: (stdout: string, stderr: string) => boolean) => Promise<void>;
  ended: Promise<Finished>;
}

/** The first line of `start --json`. */
export interface Ready {
  event: 'ready';
  url: string;
  port: number;
  publicKey: string;
  secretKey: string;
  dashboardUrl: string;
  dataDir: string | null;
  controlToken: string | null;
  pid: number;
}

export interface RunOptions {
  /** Working directory. */
  cwd: string;
  /** Beside PATH and HOME, the only variables that the process sees. */
  env?: Record<string, string>;
  /** What the process reads from its stdin; without it there is nothing to read. */
  input?: string;
}

/** Runs the real binary; whatever of it is left when the test is over is killed by its id. */
export function launch(args: readonly string[], { cwd, env = {}, input }: RunOptions): Running {
  const { PATH = '', HOME = '' } = process.env;
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const spawned: SpawnOptions = { cwd, env: { PATH, HOME, ...env }, stdio: [stdin, 'pipe', 'pipe'] };
  const child = spawn(process.execPath, [BINARY, ...args], spawned);
  child.stdin?.end(input);
  let stdout = '';
  let stderr = '';
  const onChange = new Set<() => void>();
  const changed = () => {
    for (const look of onChange) look();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    changed();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    changed();
  });
  const ended = new Promise<Finished>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  return {
    child,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    until: (holds) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!holds(stdout, stderr)) return;
          onChange.delete(look);
          resolve();
        };
        onChange.add(look);
        void ended.then(({ code }) =>
          reject(new Error(`the process ended with ${code} before: ${stdout}\n${stderr}`)),
        );
        look();
      }),
    ended,
  };
}

/** Runs a command of the real binary to its end. */
export function run(args: readonly string[], options: RunOptions): Promise<Finished> {
  return launch(args, options).ended;
}

/** Runs a command with `--json` and reads the one document it prints. */
export async function runJson<Body>(
  args: readonly string[],
  options: RunOptions,
): Promise<Finished & { body: Body }> {
  const finished = await run([...args, '--json'], options);
  return { ...finished, body: JSON.parse(finished.stdout || 'null') as Body };
}

/** `start --json` on a free port, as soon as it is ready. */
export async function startBinary(
  args: readonly string[],
  options: RunOptions,
): Promise<Running & { ready: Ready }> {
  const running = launch(['start', '--port', '0', '--json', ...args], options);
  await running.until((stdout) => stdout.includes('\n'));
  const [first = ''] = running.stdout().split('\n', 1);
  return { ...running, ready: JSON.parse(first) as Ready };
}
