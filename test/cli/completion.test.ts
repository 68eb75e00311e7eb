import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { placesOf } from '../../src/cli/completion/command-tree.ts';
import { TAMPERINGS } from '../../src/contract/tampering.ts';
import {
  CARD_STATUSES,
  DELIVERY_ORDERS,
  DELIVERY_STATES,
  IPN_FORMATS,
  MODES,
  PAYMENT_STATUSES,
} from '../../src/contract/vocabulary.ts';
import { run, runJson } from '../helpers/cli.ts';
import { PROGRAM, withCommandsBelow } from '../helpers/commands.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

/** What stands on the command line, the last word being the one to complete, and what is offered, or some of it. */
const CASES: [line: string[], offered: string[], not?: string[]][] = [
  [[''], ['start', 'payments', 'ipn', 'completion'], ['list', '--port']],
  [['pa'], ['pay', 'payments'], ['start']],
  [['ipn', 're'], ['resend'], ['list']],
  [['ipn', '--sta'], ['--state'], ['--status']],
  [['start', '--po'], ['--port'], ['--panel']],
  [
    ['start', '--error-status', ''],
    ['ok', 'http'],
    ['start', '--port'],
  ],
  [
    ['--url', 'http://localhost:1', 'pay', '--delivery', 'ipn-'],
    ['ipn-only', 'ipn-twice'],
    ['redirect-only'],
  ],
  // A value is no command, whatever it is called.
  [['--data-dir', 'pay', 'car'], ['cards'], ['pay']],
  [['completion', ''], ['bash', 'zsh', 'fish'], ['start']],
  [['faults', 'set', ''], ['initiate', 'ipn'], ['start']],
  [['open', ''], ['dashboard', 'checkout'], ['start']],
  [['start', '--config', 'gateway'], ['gateway-sim.config.json'], ['folder']],
];

async function scriptOf(shell: string): Promise<{ cwd: string; file: string; script: string }> {
  const cwd = await temporaryFolder();
  const { code, stdout, stderr } = await run(['completion', shell], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  const file = join(cwd, `script.${shell}`);
  await writeFile(file, stdout);
  await writeFile(join(cwd, 'gateway-sim.config.json'), '{}');
  await mkdir(join(cwd, 'folder of mine'));
  return { cwd, file, script: stdout };
}

/** Sources the script in a shell that has no PATH, so that nothing can be run, and asks for each case. */
function asked(shell: string, cwd: string, program: string, lines: readonly string[][]): string[][] {
  const path = spawnSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).stdout.trim();
  const { stdout, stderr, status } = spawnSync(path, [...(shell === 'zsh' ? ['-f'] : []), '-c', program], {
    cwd,
    encoding: 'utf8',
    env: { PATH: '', HOME: cwd },
  });
  expect([status, stderr]).toEqual([0, '']);
  const answers = stdout
    .split('\f\n')
    .slice(0, -1)
    .map((text) => text.split('\n').filter(Boolean));
  expect(answers).toHaveLength(lines.length);
  return answers;
}

const word = (text: string) => `'${text}'`;

function expectOffers(answers: readonly string[][], cases = CASES): void {
  for (const [index, [line, offered, not = []]] of cases.entries()) {
    const answer = answers[index] ?? [];
    expect([line, answer]).toEqual([line, expect.arrayContaining(offered)]);
    for (const other of not) expect([line, answer]).not.toEqual([line, expect.arrayContaining([other])]);
  }
}

describe.runIf(isInstalled('bash'))('in bash', () => {
  const ask = (line: readonly string[]) =>
    `COMP_WORDS=(gateway-sim ${line.map(word).join(' ')}); COMP_CWORD=${line.length}; _gateway_sim; printf '%s\\n' "\${COMPREPLY[@]}"; printf '\\f\\n'`;

  it('the script has no mistake and offers what fits', async () => {
    const { cwd, file } = await scriptOf('bash');
    expect(spawnSync('bash', ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    // Bash takes --option=value apart.
    const more: typeof CASES = [
      ...CASES,
      [['pay', '--delivery', '=', 'redirect-o'], ['redirect-only'], ['ipn-only']],
      [
        ['pay', '--delivery', '='],
        ['redirect-only', 'ipn-only'],
      ],
      [['start', '--data-dir', 'fol'], ['folder of mine']],
      [['start', '--data-dir', 'gate'], [], ['gateway-sim.config.json']],
      [['start', '--port', ''], [], ['start', '--port', 'folder of mine']],
      [['start', '--', 'echo', 'gate'], ['gateway-sim.config.json']],
    ];
    const lines = more.map(([line]) => line);
    const program = `compopt() { :; }\n. ${file}\n${lines.map(ask).join('\n')}`;
    expectOffers(asked('bash', cwd, program, lines), more);
  });

  it('the script knows every command and every option', async () => {
    const { cwd, file } = await scriptOf('bash');
    const commands = withCommandsBelow(PROGRAM);
    const paths = commands.map((command) => {
      const names: string[] = [];
      for (let at = command; at.parent; at = at.parent) names.unshift(at.name());
      return names;
    });
    const lines = paths.map((path) => [...path, '--']);
    const answers = asked(
      'bash',
      cwd,
      `. ${file}\n${lines.map((line) => ask([...line.slice(0, -1), '-'])).join('\n')}`,
      lines,
    );
    for (const [index, command] of commands.entries()) {
      const flags = command.options.map(({ long }) => long);
      expect([paths[index], answers[index]]).toEqual([
        paths[index],
        expect.arrayContaining([...flags, '--help']),
      ]);
    }
  });
});

describe.runIf(isInstalled('zsh'))('in zsh', () => {
  it('the script offers what fits', async () => {
    const { cwd, file } = await scriptOf('zsh');
    // The functions of the completion system, as far as the script needs them: they print what they are given.
    const stubs = `compdef() { }
_describe() { local list=$@[-1]; local -a all=("\${(@P)list}"); print -rl -- "\${(@)all%%:*}" }
compadd() { print -rl -- "\${(@)@:2}" }
_files() { [[ $1 == -/ ]] && print -rl -- *(/) || print -rl -- * }`;
    const ask = (line: readonly string[]) =>
      `words=(gateway-sim ${line.map(word).join(' ')}); CURRENT=${line.length + 1}; _gateway-sim | while read -r one; do [[ $one == "$words[CURRENT]"* ]] && print -r -- $one; done; print '\\f'`;
    const lines = CASES.map(([line]) => line);
    expectOffers(asked('zsh', cwd, `${stubs}\n. ${file}\n${lines.map(ask).join('\n')}`, lines));
  });
});

describe.runIf(isInstalled('fish'))('in fish', () => {
  it('the script offers what fits', async () => {
    const { cwd, file } = await scriptOf('fish');
    const ask = (line: readonly string[]) =>
      `complete -C 'gateway-sim ${line.join(' ')}' | string replace -r '\\t.*' ''; printf '\\f\\n'`;
    const lines = CASES.map(([line]) => line);
    expectOffers(asked('fish', cwd, `source ${file}\n${lines.map(ask).join('\n')}`, lines));
  });
});

test.each(['zsh', 'fish'])(
  'the script of %s holds every command and option with its description',
  async (shell) => {
    const { script } = await scriptOf(shell);
    const plain = script.replaceAll("'\\''", "'").replaceAll("\\'", "'").replaceAll('\\\\', '\\');
    for (const command of withCommandsBelow(PROGRAM).slice(1)) {
      expect(plain).toContain(command.name());
      expect(plain).toContain(command.description());
      for (const { long, description } of command.options) {
        expect(plain).toContain(shell === 'zsh' ? `${long}:${description}` : `-l ${long?.slice(2)} `);
        expect(plain).toContain(description);
      }
    }
  },
);

test.each([
  ['payments list', '--status', PAYMENT_STATUSES],
  ['payments list', '--mode', MODES],
  ['pay', '--delivery', DELIVERY_ORDERS],
  ['ipn list', '--state', DELIVERY_STATES],
  ['ipn fire', '--tamper', TAMPERINGS],
  ['ipn fire', '--format', IPN_FORMATS],
  ['cards list', '--status', CARD_STATUSES],
])('the values of %s %s are all that there are', (path, flag, values) => {
  const places = placesOf(PROGRAM);
  const option = places
    .find((place) => place.path === path)
    ?.options.find(({ flags }) => flags.includes(flag));
  expect(option?.values).toEqual([...values]);
});

test('without a shell, and for one that it has no script for, it says which there are', async () => {
  const cwd = await temporaryFolder();
  for (const args of [['completion'], ['completion', 'tcsh']]) {
    const { code, stdout, stderr } = await run(args, { cwd });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('bash, zsh, fish');
  }
});

test('the help tells where to put it, and --json has it as a document', async () => {
  const cwd = await temporaryFolder();
  const { stdout } = await run(['completion', '--help'], { cwd });
  for (const place of ['bash-completion/completions', 'fpath', 'fish/completions'])
    expect(stdout).toContain(place);
  const { body } = await runJson<{ shell: string; script: string }>(['completion', 'bash'], { cwd });
  expect(body).toEqual({
    shell: 'bash',
    script: expect.stringContaining('complete -F _gateway_sim gateway-sim'),
  });
});
