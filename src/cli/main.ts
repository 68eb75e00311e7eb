import { VERSION } from '../system/package-info.ts';
import { keepCompiledCode } from './compile-cache.ts';
import type { Io } from './io.ts';

/** Runs the command line of this process; sets process.exitCode and never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  // Asked by scripts, often: nothing else has to be loaded for it.
  if (argv.length === 3 && (argv[2] === '--version' || argv[2] === '-V')) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  keepCompiledCode(process.env);
  const { run } = await import('./run.ts');
  process.exitCode = await run(argv, processIo());
}

function processIo(): Io {
  for (const stream of [process.stdout, process.stderr]) {
    // A reader that goes away (`| head`, a closed terminal) or does not keep up is no error: what nobody reads is
    // dropped. Whatever else is wrong with it, a log must not end the emulator.
    stream.on('error', () => {});
  }
  return {
    // Only who reads it opens it.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
  };
}
