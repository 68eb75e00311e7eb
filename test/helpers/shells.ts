import { execFileSync, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';

/** The installed shells. */
export const SHELLS = [['sh'], ['bash'], ['dash'], ['busybox', 'sh'], ['ksh'], ['zsh']].filter(
  ([shell = '']) => !spawnSync(shell, ['-c', ':']).error,
);

/** Text that a shell would run, split, or read as an option or a pattern. `touch PWNED` shows that it was run. */
export const HOSTILE = [
  "';touch PWNED #",
  '$(touch PWNED)',
  '`touch PWNED`',
  '"; touch PWNED; "',
  '\'"$(touch PWNED)"\'',
  'a[$(touch PWNED)]',
  'x  --exec=system("touch PWNED");',
  "\\'; touch PWNED; \\'",
  `\${HOME:=$(touch PWNED)}`,
  '> PWNED',
  '| tee PWNED',
  '%PATH% !!',
  '{a,b}',
  '\\',
  '*',
  '~',
  '',
  '\u2028touch PWNED\u202e',
  'größer 🙂',
];

/** Characters with a meaning to shells or terminals, in any mixture. */
export const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...HOSTILE),
      fc.constantFrom(
        ...['"', "'", '$', '(', ')', '`', '\\', ';', '&', '|', '<', '#', '%', '{', '}', '-', ' '],
      ),
      fc.constantFrom(...['\n', '\r', '\t', '\u0007', '\u001b[201~', '\u007f', '\u0085', '\u202e', '\u0301']),
      fc.constantFrom(...['--exec=', '$$', '$@', '%s', '%n', '\\047', '\\n', 'EOF', "$'\\x27"]),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

/** The output of a script in a shell, split at NUL characters; the last part is kept if it is not empty. */
export function printedBy(
  [shell = '', ...args]: readonly string[],
  script: string,
  { cwd, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): string[] {
  const printed = execFileSync(shell, args, {
    ...{ cwd, input: script, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['pipe', 'pipe', 'ignore'] },
    env: { PATH: process.env['PATH'], ...env },
  });
  return printed.split('\0');
}

/** A command that starts another one and hangs, as does the other; `pids` resolves with both when they run. */
export function hangingCommand(folder: string): { cmd: string; pids: () => Promise<number[]> } {
  const file = join(folder, 'pids');
  const read = async () => (await readFile(file, 'utf8').catch(() => '')).trim().split(/\s+/).map(Number);
  return {
    cmd: `sleep 600 & echo $$ $! > '${file}'; wait`,
    pids: async () => {
      await expect.poll(read).toHaveLength(2);
      return read();
    },
  };
}
