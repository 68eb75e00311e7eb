import type { Command } from 'commander';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildProgram } from '../../src/cli/run.ts';
import { run, startHere } from '../helpers/cli.ts';
import { fullName, helpOf, PROGRAM, withCommandsBelow } from '../helpers/commands.ts';

const ALL = withCommandsBelow(PROGRAM).map((command) => ({ name: fullName(command), command }));

/** The command lines in the examples of a help text. */
function examplesIn(help: string): string[] {
  const [, list = ''] = help.replace(/ \\\n +/g, ' ').split(/^Examples?:\n/m);
  return (
    list
      .split('\n\n', 1)[0]
      ?.split('\n')
      .filter((line) => line.trim())
      .map((line) => line.trim()) ?? []
  );
}

/** The mistake in an example, given the existing commands and options. */
function mistakeIn(example: string): string | undefined {
  const words = (example.match(/"[^"]*"|'[^']*'|\S+/g) ?? [])
    .slice(1)
    .filter((word) => !word.startsWith('>'));
  let command: Command = PROGRAM;
  const line: Command[] = [PROGRAM];
  while (words[0] !== undefined) {
    const sub = command.commands.find((one) => one.name() === words[0]);
    if (!sub) break;
    line.push(sub);
    command = sub;
    words.shift();
  }
  const byDefault = command.commands.find((sub) => ['list', 'show'].includes(sub.name()));
  if (byDefault && command.parent) line.push(byDefault);
  const options = line.flatMap((one) => one.options);
  const accepted = line.at(-1)?.registeredArguments ?? [];
  let positions = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    // Another program's command line follows.
    if (word === '--' || word === '|') break;
    if (!word.startsWith('-') || word === '-') positions++;
    else {
      const option = options.find(({ long, short }) => long === word || short === word);
      if (!option) return `${fullName(command)} has no option ${word}`;
      if (option.required) index++;
    }
  }
  if (command === PROGRAM) return `${example} names no command`;
  if (!accepted.at(-1)?.variadic && positions > accepted.length) return `${example} has too many arguments`;
  return positions < accepted.filter(({ required }) => required).length
    ? `${example} lacks an argument`
    : undefined;
}

it.each(ALL)('the help of $name fits 80 columns', ({ command }) => {
  const lines = helpOf(command).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

describe('the help', () => {
  it.each(ALL)('of $name has a description and valid examples', ({ command }) => {
    expect(command.description()).not.toBe('');
    const help = helpOf(command);
    expect(help).toMatch(/^Usage: gateway-sim/);
    const examples = examplesIn(help);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect(example).toMatch(/^gateway-sim /);
      expect(mistakeIn(example)).toBeUndefined();
      if (command !== PROGRAM) expect(`${example} `).toContain(`${fullName(command)} `);
    }
  });

  it('fits into 70 columns, and lists the options that every command has', async () => {
    const width = 70;
    const isPasted = (line: string) => /^(Usage:| {2,}gateway-sim )/.test(line);
    for (const command of withCommandsBelow(await buildProgram())) {
      const help = helpOf(command, width);
      const tooWide = help.split('\n').filter((line) => line.length > width && !isPasted(line));
      expect([command.name(), tooWide]).toEqual([command.name(), []]);
      for (const flag of ['--json', '--no-color', '--help']) expect(help).toMatch(new RegExp(`${flag}\\b`));
    }
  });

  it.each([
    ['start', 38],
    ['audit', 24],
  ])('of %s fits on two screens, with %d options of its own', (name, count) => {
    const command = PROGRAM.commands.find((one) => one.name() === name) ?? PROGRAM;
    const help = helpOf(command);
    expect(help.match(/^ {2}--\w/gm)).toHaveLength(count);
    expect(help.split('\n').length).toBeLessThanOrEqual(100);
  });

  it('shows commands as the user called the program', async () => {
    const program = await buildProgram({ invocation: 'npx gateway-sim', first: 'pay' });
    const help = helpOf(program.commands.find((command) => command.name() === 'pay') ?? program);
    expect(help).toContain('Usage: npx gateway-sim pay [options]');
    expect(help).toContain('  npx gateway-sim pay --approve\n');
  });

  it.each(['start', 'ipn', 'ipn fire'])('of %s is printed with exit code 0', async (path) => {
    vi.stubEnv('COLUMNS', '80');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code, stdout, stderr } = await run([...path.split(' '), '--help'], { cwd: '.' });
    const command = ALL.find(({ name }) => name === `gateway-sim ${path}`)?.command;
    // Longer names of the program break examples elsewhere.
    const onOneLine = (text: string) => text.replace(/ \\\n +/g, ' ');
    const shown = onOneLine(stdout.replaceAll('npx gateway-sim', 'gateway-sim'));
    expect([code, stderr, shown]).toEqual([0, '', onOneLine(helpOf(command ?? PROGRAM))]);
  });
});

describe('on a terminal', () => {
  it.each([
    ['colours are on', {}, [], true],
    ['an empty NO_COLOR is ignored', { NO_COLOR: '' }, [], true],
    ['NO_COLOR turns them off', { NO_COLOR: '1' }, [], false],
    ['--no-color turns them off', {}, ['--no-color'], false],
  ])('%s', async (_, env, flag, coloured) => {
    const { cwd, url } = await startHere();
    await fetch(`${url}/nowhere`);
    const { stdout } = await run(['logs', ...flag], { cwd, env, isTerminal: true });
    expect(stdout).toContain('GET /nowhere');
    expect(stdout.includes('\u001b[')).toBe(coloured);
  });
});

it('a command line without a command says what this is, in a few lines', async () => {
  const { code, stdout, stderr } = await run([], { cwd: '.' });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^gateway-sim is a local emulator of a hosted payment gateway\.\nNo real money moves\.\n/,
  );
  expect(stdout).toMatch(/\nFor all commands, run: .*gateway-sim.* --help\n$/);
  const lines = stdout.split('\n');
  expect(lines.length).toBeLessThan(13);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
