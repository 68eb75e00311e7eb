import type { Command, Option } from 'commander';
import { launch as launchBinary } from '../../helpers/binary.ts';
import type { Finished } from '../../helpers/child.ts';
import { launch, startIn } from '../../helpers/cli.ts';
import { fullName, PROGRAM, withCommandsBelow } from '../../helpers/commands.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { ORDER } from '../../helpers/sim.ts';
import { type Below, HOSTILE_TEXTS, pick } from '../hostile-values.ts';
import { type Budget, trial } from '../trial.ts';

/** Commands that run until they are stopped, run other programs, or stop the emulator that this trial uses. */
const ENDLESS = /^(start|exec|logs|stop|open|wait|ipn listen)$/;
/** Options that would open a browser, leave a process behind, look up a name, or wait for a user. */
const LEFT_OUT = /^--(open|detach|host|allow-host|tls|orders)$/;
/** The time limit of one command line on a busy machine. */
const LONGEST_MS = 30_000;
/** One in this many command lines runs in its own process. */
const IN_A_PROCESS = 40;

/** No value may be a path outside the folder, or a name that would be looked up. */
const VALUES = HOSTILE_TEXTS.filter((text) => !/^[/~]|\.\.|\\/.test(text));
const REFERENCES = [
  'order-1',
  'wal_rich_usd',
  'mer_1',
  'card_1',
  'ipn_1',
  'initiate',
  'checkout',
  '@body.txt',
  '-',
];

const COMMANDS = withCommandsBelow(PROGRAM).filter((command) => command.name() !== 'help');

/** Options that take a value: `--json` after one of them is that value. */
const TAKES_VALUE = new Set(
  [PROGRAM, ...COMMANDS].flatMap(({ options }) =>
    options.flatMap(({ long, required }) => (required && long ? [long] : [])),
  ),
);

/** Generates command lines from all commands and options. */
class CommandLines {
  readonly #below: Below;
  /** A port that an emulator already uses. */
  readonly #port: string;

  constructor(below: Below, port: number) {
    this.#below = below;
    this.#port = String(port);
  }

  next(): string[] {
    const below = this.#below;
    const command = pick(COMMANDS, below);
    const name = fullName(command).split(' ').slice(1);
    const words = below(15) ? name : name.map((word) => this.#misspelled(word));
    if (below(2)) words.push('--json');
    for (const { required, variadic } of command.registeredArguments) {
      const count = variadic ? below(4) : below(required ? 8 : 2) ? 1 : 0;
      for (let number = 0; number < count; number++) words.push(this.#value());
    }
    const known = [...command.options, ...PROGRAM.options].filter(({ long }) => !LEFT_OUT.test(long ?? ''));
    for (let count = below(5); count > 0; count--) words.push(...this.#option(pick(known, below)));
    if (!below(8))
      words.splice(below(words.length + 1), 0, pick([...VALUES, '--', '-', '--nope', '-x'], below));
    return this.#harmless(words, command);
  }

  #option({ long, required, optional }: Option): string[] {
    const below = this.#below;
    const flag = long ?? '--nope';
    if (!required && !optional) return below(12) ? [flag] : [`${flag}=${this.#value()}`];
    const value = this.#valueOf(flag);
    const shape = below(12);
    if (shape === 0) return [flag];
    return shape < 3 ? [`${flag}=${value}`] : [flag, value];
  }

  #valueOf(flag: string): string {
    const below = this.#below;
    // A wait takes real time, and a URL may contain a name that would be looked up.
    if (/^--(wait|timeout|delay)$/.test(flag)) return pick(['0ms', '1ms', '-1s', '', 'soon', '1e9s'], below);
    if (/^--(url|to|forward-to|ipn-url|forward-ipn|target)$/.test(flag)) {
      return pick(['http://127.0.0.1:9', 'http://[', '', 'http://127.1:9/x', 'ftp://127.0.0.1', '\0'], below);
    }
    return this.#value();
  }

  #value(): string {
    const below = this.#below;
    if (below(3) === 0) return pick(REFERENCES, below);
    return below(15) ? pick(VALUES, below) : 'x'.repeat(below(20_000));
  }

  #misspelled(word: string): string {
    const at = this.#below(word.length + 1);
    return pick(
      [word.slice(0, at), word.slice(at), `${word}${word}`, word.toUpperCase(), `${word}x`],
      this.#below,
    );
  }

  /** Makes endless commands fail: with a port that is in use, or an unknown option. */
  #harmless(words: string[], command: Command): string[] {
    const line = words.filter((word) => word !== '--' || !ENDLESS.test(command.name()));
    const isEndless = withCommandsBelow(PROGRAM).some(
      (one) => ENDLESS.test(fullName(one).replace(/^\S+ /, '')) && line.includes(one.name()),
    );
    if (!isEndless) return line;
    const starts = line[0] === 'start' && this.#below(2) === 0;
    // Twice, because the first one may be read as the value of the argument before it.
    return starts ? [...line, '--in-memory', '--port', this.#port] : [...line, '--nope', '--nope'];
  }
}

/** A command that has ended. */
type Seen = Omit<Finished, 'signal'>;

function judge(budget: Budget, line: readonly string[], { code, stdout, stderr }: Seen): void {
  const shown = JSON.stringify(line).slice(0, 600);
  const said = (stdout + stderr).slice(0, 600);
  if (code === null || code > 6) budget.fail('other', `exit code ${code} of ${shown}: ${said}`);
  if (/^ +at .*:\d+/m.test(stderr)) budget.fail('other', `a stack trace from ${shown}: ${said}`);
  if (stderr.includes('bug of gateway-sim')) budget.fail('other', `a bug, from ${shown}: ${said}`);
  // With --json, start and exec print their errors as text.
  const flags = line.includes('--') ? line.slice(0, line.indexOf('--')) : line;
  const isAsked = flags.some((word, at) => word === '--json' && !TAKES_VALUE.has(flags[at - 1] ?? ''));
  const isValue = (at: number) => TAKES_VALUE.has(flags[at - 1] ?? '');
  const command = flags.find((word, at) => !word.startsWith('-') && !isValue(at)) ?? '';
  const isAnswer = isAsked && !/^(start|exec)$/.test(command);
  if (code === 0 || !isAnswer) return;
  try {
    const [first = ''] = stdout.split('\n', 1);
    JSON.parse(first);
  } catch {
    budget.fail('other', `code ${code} and no JSON from ${shown}: ${said}`);
  }
}

const inTime = <Value>(running: Promise<Value>) => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, LONGEST_MS, undefined);
  });
  return Promise.race([running, late]).finally(() => clearTimeout(timer));
};

trial(
  'commands, with options and values of every kind',
  { short: 40, least: 2_000, share: 2 },
  async (budget) => {
    const cwd = await temporaryFolder();
    const sim = await startIn(cwd);
    await sim.initiate({ ...ORDER });
    const lines = new CommandLines(budget.below, sim.server.port);
    await budget.repeat(async (number) => {
      const line = lines.next();
      const asProcess = number % IN_A_PROCESS === 0 && !line.some((word) => word.includes('\0'));
      const running = asProcess ? launchBinary(line, { cwd }) : launch(line, { cwd });
      const seen = await inTime<Seen>(running.ended);
      if (seen) judge(budget, line, seen);
      else budget.fail('hang', JSON.stringify(line).slice(0, 600));
    });
  },
);
