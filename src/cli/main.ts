import { VERSION } from '../system/package-info.ts';
import type { Io } from './io.ts';

/** Runs the command line of this process; sets process.exitCode and never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  surviveOutputErrors();
  // Asked by scripts, often: nothing else has to be loaded for it.
  if (argv.length === 3 && (argv[2] === '--version' || argv[2] === '-V')) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const { keepCompiledCode } = await import('./compile-cache.ts');
  keepCompiledCode(process.env);
  const io = processIo();
  const { run } = await import('./run.ts');
  const exitCode = io ? await run(argv, io) : 2;
  process.exitCode ||= exitCode;
}

/** What cannot be written ends no emulator; a command whose output is lost has failed. */
function surviveOutputErrors(): void {
  const fail = async (error: NodeJS.ErrnoException) => {
    // A reader that goes away (`| head`, a closed terminal) is no error: what nobody reads is dropped.
    if (process.exitCode === 5 || error.code === 'EPIPE' || error.code === 'EIO') return;
    process.exitCode = 5;
    const { reason } = await import('../store/files.ts');
    process.stderr.write(`gateway-sim: the output cannot be written: ${reason(error)}\n`);
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', fail);
}

/** Undefined, which is said, when the working folder is gone. */
function processIo(): Io | undefined {
  let cwd: string;
  try {
    cwd = process.cwd();
  } catch {
    process.stderr.write(
      'gateway-sim: the working folder does not exist any more\n  Change to another one.\n',
    );
    return undefined;
  }
  return {
    // Only who reads it opens it.
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
