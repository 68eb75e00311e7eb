import { VERSION } from '../system/package-info.ts';

/** Runs the command line of this process; sets process.exitCode and never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  // Asked by scripts, often: nothing else has to be loaded for it.
  if (argv.length === 3 && (argv[2] === '--version' || argv[2] === '-V')) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const [{ run }, { processIo }] = await Promise.all([import('./run.ts'), import('./io.ts')]);
  process.exitCode = await run(argv, processIo());
}
