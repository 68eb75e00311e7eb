import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { completionsOf } from '../../src/cli/commands/completion.ts';
import { PAYMENT_STATUSES } from '../../src/contract/vocabulary.ts';
import { BINARY } from '../helpers/binary.ts';
import { run } from '../helpers/cli.ts';
import { PROGRAM, withCommandsBelow } from '../helpers/commands.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

/** The words on the command line (the last one is completed), some completions, and words that are not completions. */
const CASES: [line: string[], offered: string[], not?: string[]][] = [
  [[''], ['start', 'payments', 'ipn', 'completion'], ['list', '--port']],
  [['ipn', 're'], ['resend'], ['list']],
  [['ipn', '--sta'], ['--state'], ['--status']],
  [['--url', 'http://localhost:1', 'pay', '--delivery', 'ipn-'], ['ipn-only'], ['redirect-only']],
  // A value is not a command, even if it has the name of one.
  [['--data-dir', 'pay', 'car'], ['cards'], ['pay']],
  [['faults', 'set', ''], ['initiate', 'ipn'], ['start']],
  [['start', '--fixtures', 'gateway'], [':file'], [':folder']],
  [['start', '--data-dir', 'fol'], [':folder']],
  [['pay', '--delivery', '=', 'redirect-o'], ['redirect-only']],
  [['pay', '--delivery=redirect'], ['--delivery=redirect-only']],
  [['start', '--port', ''], [], ['start', '--port']],
  [['exec', '--', 'npm', 'te'], [':rest 2']],
];

const wordsOf = (line: readonly string[]) => completionsOf(PROGRAM, line).map((one) => one.split('\t')[0]);

describe('the completions', () => {
  it.each(CASES)('after %j are %j', (line, offered, not = []) => {
    const words = wordsOf(line);
    expect(words).toEqual(expect.arrayContaining(offered));
    for (const other of not) expect(words).not.toContain(other);
  });

  it('of an option are exactly its values', () => {
    expect(wordsOf(['payments', 'list', '--status', ''])).toEqual(PAYMENT_STATUSES);
  });

  it('contain every command and every option with its description', () => {
    for (const command of withCommandsBelow(PROGRAM)) {
      const path: string[] = [];
      for (let at = command; at.parent; at = at.parent) path.unshift(at.name());
      const subs = command.commands.map((sub) => `${sub.name()}\t${sub.description()}`);
      if (subs.length) expect(completionsOf(PROGRAM, [...path, ''])).toEqual(subs);
      const flags = command.options.map(({ long, description }) => `${long}\t${description}`);
      expect(completionsOf(PROGRAM, [...path, '-'])).toEqual(expect.arrayContaining(flags));
    }
  });
});

async function scriptOf(shell: string): Promise<{ cwd: string; file: string }> {
  const cwd = await temporaryFolder();
  const { code, stdout, stderr } = await run(['completion', shell], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  const file = join(cwd, `script.${shell}`);
  await writeFile(file, stdout);
  await writeFile(join(cwd, 'gateway-sim.config.json'), '{}');
  await mkdir(join(cwd, 'folder of mine'));
  return { cwd, file };
}

/** Runs a program in a shell, and returns the completions of each case. */
function offeredBy(shell: string, cwd: string, program: string): string[][] {
  const path = spawnSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).stdout.trim();
  const { stdout, stderr, status } = spawnSync(path, [...(shell === 'zsh' ? ['-f'] : []), '-c', program], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: cwd },
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout
    .split('\f\n')
    .slice(0, -1)
    .map((text) => text.split('\n').filter(Boolean));
}

const quoted = (text: string) => `'${text}'`;

/** One case of each kind of completion. */
const IN_SHELLS: [line: string[], offered: string[]][] = [
  [['pa'], ['pay', 'payments']],
  [['pay', '--delivery', 'ipn-o'], ['ipn-only']],
  [['start', '--fixtures', 'gate'], ['gateway-sim.config.json']],
  [['start', '--data-dir', 'fol'], ['folder of mine']],
];
const OFFERED = IN_SHELLS.map(([, offered]) => offered);

describe.runIf(isInstalled('bash'))('in bash', () => {
  it('the script has no errors and offers matching words', async () => {
    const { cwd, file } = await scriptOf('bash');
    expect(spawnSync('bash', ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    const lines = [...IN_SHELLS.map(([line]) => line), ['exec', '--', 'echo', 'gate']];
    const ask = (line: readonly string[]) =>
      `COMP_WORDS=(gateway-sim ${line.map(quoted).join(' ')}); COMP_CWORD=${line.length}; _gateway_sim gateway-sim; printf '%s\\n' "\${COMPREPLY[@]}"; printf '\\f\\n'`;
    const program = `compopt() { :; }
gateway-sim() { ${quoted(process.execPath)} ${quoted(BINARY)} "$@"; }
. ${file}
${lines.map(ask).join('\n')}`;
    expect(offeredBy('bash', cwd, program)).toEqual([...OFFERED, ['gateway-sim.config.json']]);
  });
});

describe.runIf(isInstalled('zsh'))('in zsh', () => {
  it('the script offers matching words', async () => {
    const { cwd, file } = await scriptOf('zsh');
    // The functions of the completion system that the script needs: they print their arguments.
    const stubs = `compdef() { }
compset() { }
_describe() { local list=$@[-1]; local -a all=("\${(@P)list}"); print -rl -- "\${(@)all%%:*}" }
_files() { [[ $1 == -/ ]] && print -rl -- *(/) || print -rl -- * }
gateway-sim() { ${quoted(process.execPath)} ${quoted(BINARY)} "$@" }`;
    const ask = ([line]: (typeof IN_SHELLS)[number]) =>
      `words=(gateway-sim ${line.map(quoted).join(' ')}); CURRENT=${line.length + 1}; _gateway-sim | while read -r one; do [[ $one == "$words[CURRENT]"* ]] && print -r -- $one; done; print '\\f'`;
    const program = `${stubs}\n. ${file}\n${IN_SHELLS.map(ask).join('\n')}`;
    expect(offeredBy('zsh', cwd, program)).toEqual(OFFERED);
  });
});

describe.runIf(isInstalled('fish'))('in fish', () => {
  it('the script offers matching words', async () => {
    const { cwd, file } = await scriptOf('fish');
    const ask = ([line]: (typeof IN_SHELLS)[number]) =>
      `complete -C 'gateway-sim ${line.join(' ')}' | string replace -r '\\t.*' '' | string trim -r -c /; printf '\\f\\n'`;
    const program = `function gateway-sim; ${quoted(process.execPath)} ${quoted(BINARY)} $argv; end
source ${file}
${IN_SHELLS.map(ask).join('\n')}`;
    expect(offeredBy('fish', cwd, program)).toEqual(OFFERED);
  });
});

test.each([[['completion']], [['completion', 'tcsh']]])('%j lists the available shells', async (args) => {
  const { code, stdout, stderr } = await run(args, { cwd: await temporaryFolder() });
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('bash, zsh, fish')]);
});

test('the help says where to save the script', async () => {
  const cwd = await temporaryFolder();
  const { stdout } = await run(['completion', '--help'], { cwd });
  for (const place of ['bash-completion/completions', 'fpath', 'fish/completions'])
    expect(stdout).toContain(place);
});
