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
  const verbose = verboseVersion(argv.slice(2));
  if (io && verbose) return writeVersion(io, verbose.profile);
  const { run } = await import('./run.ts');
  const exitCode = io ? await run(argv, io) : 2;
  process.exitCode ||= exitCode;
}

/** What `--version --verbose` is asked with; undefined for everything else. */
function verboseVersion(words: readonly string[]): { profile: string | undefined } | undefined {
  const rest = words.filter((word) => !['--verbose', '--version', '-V'].includes(word));
  if (words.length - rest.length !== 2 || !words.includes('--verbose')) return undefined;
  const [, profile] = /^--profile[= ](.*)$/s.exec(rest.join(' ')) ?? [];
  return rest.length && profile === undefined ? undefined : { profile };
}

async function writeVersion(io: Io, profile: string | undefined): Promise<void> {
  const [{ versionText }, { Output }] = await Promise.all([import('./version.ts'), import('./output.ts')]);
  const output = new Output(io, {});
  try {
    output.line(await versionText(io, profile));
  } catch (error) {
    process.exitCode = output.fail(error);
  }
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
    env: process.env,
    cwd,
  };
}
