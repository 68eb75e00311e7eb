import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { BINARY } from '../helpers/binary.ts';
import { type Finished, runProgram, shellWords } from '../helpers/child.ts';
import { run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const OURS = 'npx gateway-sim ';

/**
 * Runs commands from a page until one fails. gateway-sim commands run in this process. All others run in a shell in
 * which `npx gateway-sim` is the built program.
 *
 * @param options.more the arguments that are added to each gateway-sim command
 */
export async function typed(
  text: string,
  { cwd, env = {}, more = [] }: { cwd: string; env?: Record<string, string>; more?: readonly string[] },
): Promise<Pick<Finished, 'code' | 'stdout' | 'stderr'>> {
  const lines = text.replaceAll('\\\n', ' ').trim().split('\n');
  if (!lines.every((line) => line.startsWith(OURS))) return inShell(text, cwd, env);
  const all = { code: 0, stdout: '', stderr: '' };
  for (const line of lines) {
    const { code, stdout, stderr } = await run([...shellWords(line.slice(OURS.length), env), ...more], {
      cwd,
      env,
    });
    Object.assign(all, { code, stdout: all.stdout + stdout, stderr: all.stderr + stderr });
    if (code !== 0) break;
  }
  return all;
}

async function inShell(text: string, cwd: string, env: Record<string, string>): Promise<Finished> {
  const bin = join(await temporaryFolder(), 'bin');
  await mkdir(bin);
  const npx = `#!/bin/sh\nshift\nexec '${process.execPath}' '${BINARY}' "$@"\n`;
  await writeFile(join(bin, 'npx'), npx, { mode: 0o755 });
  const PATH = `${bin}${delimiter}${process.env['PATH']}`;
  return runProgram(['sh', '-ec', text], { cwd, env: { PATH, ...env } });
}
