import { VERSION } from '../system/package-info.ts';

/** Runs the command line; sets process.exitCode and never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  // Asked by scripts, often: nothing else has to be loaded for it.
  if (argv.length === 3 && (argv[2] === '--version' || argv[2] === '-V')) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const { run } = await import('./program.ts');
  await run(argv);
}
