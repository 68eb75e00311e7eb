import { VERSION } from '../system/package-info.ts';
import type { Io } from './io.ts';

/** Runs the command line of this process and sets process.exitCode. Never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  surviveOutputErrors();
  // Scripts often run this, so nothing else is loaded.
  if (argv.length === 3 && (argv[2] === '--version' || argv[2] === '-V')) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const io = processIo();
  const { run } = await import('./run.ts');
  const exitCode = io ? await run(argv, io) : 2;
  process.exitCode ||= exitCode;
  if (!process.listenerCount('SIGINT')) return;
  // Ends a process that handles signals until it ends. On a normal end, Node drops the handlers first. The second of two
  // signals, as npm sends them, would then kill an emulator that has stopped.
  const flushed = [process.stdout, process.stderr].map(
    (stream) => new Promise((resolve) => stream.write('', resolve)),
  );
  await Promise.all(flushed);
  process.exit();
}

/** Output errors do not stop an emulator, but a command whose output is lost fails. */
function surviveOutputErrors(): void {
  const fail = async (error: NodeJS.ErrnoException) => {
    // A closed reader (`| head`, a closed terminal) is not an error: the rest of the output is dropped.
    if (process.exitCode === 5 || error.code === 'EPIPE' || error.code === 'EIO') return;
    process.exitCode = 5;
    const { reason } = await import('../system/files.ts');
    process.stderr.write(`gateway-sim: the output cannot be written: ${reason(error)}\n`);
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', fail);
}

/** Undefined, after an error message, if the working folder does not exist. */
function processIo(): Io | undefined {
  let cwd: string;
  try {
    cwd = process.cwd();
  } catch {
    process.stderr.write('gateway-sim: the working folder no longer exists\n  Change to another folder.\n');
    return undefined;
  }
  return {
    // Opened only when used.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    signals: process,
    env: process.env,
    cwd,
  };
}
