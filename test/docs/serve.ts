import { launchProgram, type RunOptions } from '../helpers/child.ts';

/** Starts a program that serves HTTP and returns the address that it prints. */
export async function serve(command: readonly string[], options: Partial<RunOptions>): Promise<string> {
  const { until, stdout, stderr } = launchProgram(command, options);
  const address = () => /http:\/\/(localhost|127\.0\.0\.1):\d+/.exec(stdout() + stderr())?.[0];
  await until(() => address() !== undefined);
  return address() ?? '';
}
