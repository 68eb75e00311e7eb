import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const BINARY = fileURLToPath(new URL('../../bin/gateway-sim.js', import.meta.url));

/** What a command has written so far. */
interface Written {
  stdout: string;
  stderr: string;
}

/** What a finished process left behind. */
export interface Finished extends Written {
  /** null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A command that was begun. */
export interface Begun<End extends Written> {
  stdout: () => string;
  stderr: () => string;
  /** Resolves with stdout and stderr as soon as the condition holds for them; rejects when the command ends before. */
  until: (holds: (stdout: string, stderr: string) => boolean) => Promise<void>;
  ended: Promise<End>;
}

/** A process of the real binary. */
export interface Running extends Begun<Finished> {
  child: ChildProcess;
  pid: number;
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
  tlsCa: string | null;
  proxyPort: number | null;
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

/** Keeps what a command writes and wakes those who wait for it. @param end given what it writes, tells when it ended */
export function begun<End extends Written>(
  streams: Readonly<Record<keyof Written, Readable | null>>,
  end: (written: Readonly<Written>) => Promise<End>,
): Begun<End> {
  const written: Written = { stdout: '', stderr: '' };
  const onChange = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    streams[name]?.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      for (const look of onChange) look();
    });
  }
  const ended = end(written);
  return {
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    until: (holds) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!holds(written.stdout, written.stderr)) return;
          onChange.delete(look);
          resolve();
        };
        onChange.add(look);
        void ended.then((finished) => reject(new Error(`it ended before: ${JSON.stringify(finished)}`)));
        look();
      }),
    ended,
  };
}

/** What runs a command to its end, given what begins it. */
export function runners<End extends Written>(
  launch: (args: readonly string[], options: RunOptions) => { ended: Promise<End> },
) {
  const run = (args: readonly string[], options: RunOptions) => launch(args, options).ended;
  return {
    run,
    /** Runs a command with `--json` and reads the one document it prints. */
    runJson: async <Body>(args: readonly string[], options: RunOptions): Promise<End & { body: Body }> => {
      const finished = await run([...args, '--json'], options);
      return { ...finished, body: JSON.parse(finished.stdout || 'null') as Body };
    },
  };
}

/** Runs the real binary; whatever of it is left when the test is over is killed by its id. */
export function launch(args: readonly string[], { cwd, env = {}, input }: RunOptions): Running {
  const { PATH = '', HOME = '' } = process.env;
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const spawned: SpawnOptions = { cwd, env: { PATH, HOME, ...env }, stdio: [stdin, 'pipe', 'pipe'] };
  const child = spawn(process.execPath, [BINARY, ...args], spawned);
  child.stdin?.end(input);
  const { stdout, stderr } = child;
  const running = begun(
    { stdout, stderr },
    (written) =>
      new Promise<Finished>((resolve) =>
        child.on('close', (code, signal) => resolve({ code, signal, ...written })),
      ),
  );
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await running.ended;
  });
  return { ...running, child, pid: child.pid ?? 0 };
}

export const { run, runJson } = runners(launch);

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
