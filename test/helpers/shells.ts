import { execFileSync, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';

/** The installed shells. */
export const SHELLS = [['sh'], ['bash'], ['dash'], ['busybox', 'sh'], ['ksh'], ['zsh']].filter(
  ([shell = '']) => !spawnSync(shell, ['-c', ':']).error,
);

/** Texts that a shell could run, split, or read as an option or a pattern. `touch PWNED` reveals that they were run. */
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

/** Any mixture of characters with a meaning in shells or terminals. */
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

/** Runs a script in a shell. @returns its output, split at NUL characters */
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

/** A command that starts another one. Both hang; `pids` resolves with their ids when both run. */
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
