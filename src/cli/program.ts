import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../domain/settings.ts';
import { environmentName, kebab, type OptionSpec, START_OPTIONS } from '../options.ts';
import { invocationOf } from './invocation.ts';
import { Output, outliveReaders, type Shown } from './output.ts';
import { VERSION } from './version.ts';

/** What every command is given. */
export interface Call {
  /** Positional arguments; what is optional and absent is undefined. */
  args: readonly (string | undefined)[];
  /** Options of the command and of the whole program, by camelCase name. */
  options: Readonly<Record<string, unknown>>;
  output: Output;
}

type Run = (call: Call) => Promise<Shown | undefined>;

const EXIT_CODE_HELP = `
Exit codes:
  0  ok
  1  a check failed
  2  wrong usage
  3  no server
  4  not found or wrong state
  5  port or data folder in use, or the folder cannot be written
  6  state damaged
`;

/** Runs the command line; sets process.exitCode and never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  const invocation = invocationOf(argv, process.env, process.cwd());
  const program = build(invocation);
  outliveReaders();
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said what is wrong; help and version are no errors.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    new Output({ json: false, color: true, invocation }).fail(error);
  }
}

const PROGRAM_OPTIONS = [
  ['--url <url>', 'address of the running emulator'],
  ['--data-dir <folder>', 'folder of the running emulator'],
  ['--control-token <token>', 'token that /_sim asks for'],
  ['--json', 'one JSON document on stdout'],
  ['--no-color', 'no colours'],
] as const;

function build(invocation: string): Command {
  const program = new Command('gateway-sim')
    .description('A local emulator of a hosted payment gateway. No real money moves.')
    .version(VERSION, '-V, --version')
    .addHelpText('after', EXIT_CODE_HELP);
  const add: Add = (parent, usage, summary, load) => {
    const isDefault = parent !== program && ['list', 'show'].includes(usage);
    const command = parent.command(usage, { isDefault }).description(summary);
    return command.action((...given: unknown[]) => act(command, given, load, invocation));
  };
  addStart(add, program);
  addPayments(add, program);
  addIpn(add, program);
  addSimulator(add, program);
  addCards(add, program);
  addTrouble(add, program);
  addWatch(add, program);
  for (const command of [program, ...everyCommand(program)]) prepare(command, command === program);
  return program;
}

function* everyCommand(command: Command): Generator<Command> {
  for (const sub of command.commands) {
    yield sub;
    yield* everyCommand(sub);
  }
}

/** Every command takes the program's own options behind its name too, and reports errors the same way. */
function prepare(command: Command, showOptions: boolean): void {
  command.exitOverride().configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'gateway-sim: ')),
  });
  const known = new Set(command.options.map(({ long }) => long));
  for (const [flags, description] of PROGRAM_OPTIONS) {
    if (known.has(flags.split(' ', 1)[0])) continue;
    command.addOption(new Option(flags, description).hideHelp(!showOptions));
  }
}

/** Runs a command with its options, those given before its name, and those of the environment. */
async function act(
  command: Command,
  given: unknown[],
  load: () => Promise<Run>,
  invocation: string,
): Promise<void> {
  const options: Record<string, unknown> = {};
  let color = true;
  for (let at: Command | null = command; at; at = at.parent) {
    if (at.getOptionValue('color') === false) color = false;
    for (const [name, value] of Object.entries(at.opts())) options[name] ??= value;
  }
  for (const name of ['url', 'dataDir', 'controlToken', 'json']) {
    const value = process.env[environmentName(name)];
    if (value) options[name] ??= name === 'json' ? /^(1|true)$/.test(value) : value;
  }
  const { json, quiet } = options;
  const output = new Output({ json: json === true, quiet: quiet === true, color, invocation });
  try {
    const run = await load();
    const args = given.slice(0, command.registeredArguments.length) as (string | undefined)[];
    const shown = await run({ args, options, output });
    if (shown) output.show(shown);
  } catch (error) {
    output.fail(error);
  }
}

type Add = (parent: Command, usage: string, summary: string, load: () => Promise<Run>) => Command;

function addStart(add: Add, program: Command): void {
  const start = add(
    program,
    'start',
    'start the emulator',
    async () => (await import('./commands/start.ts')).start,
  );
  for (const [name, spec] of Object.entries<OptionSpec>(START_OPTIONS)) {
    if (spec.kind === 'structure') continue;
    const flag =
      spec.kind === 'boolean'
        ? `--${spec.default === true ? 'no-' : ''}${kebab(name)}`
        : `--${kebab(name)} <${spec.placeholder ?? spec.choices?.join('|')}>`;
    const shown = spec.kind === 'boolean' || spec.default === undefined ? '' : ` (default: ${spec.default})`;
    const option = new Option(
      flag,
      spec.default === true ? `do not ${spec.description}` : `${spec.description}${shown}`,
    );
    // A repeated flag adds to the list; a text with commas is taken apart later, like that of a variable.
    if (spec.kind === 'list')
      option.argParser((value: string, list: string[] = []) => [...list, ...value.split(',')]);
    start.addOption(option);
  }
  start
    .option('--config <file>', 'configuration file (default: gateway-sim.config.json, where there is one)')
    .option('--open', 'open the dashboard in the browser')
    .option('--quiet', 'say nothing but the ready line and errors')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway-sim start\n  gateway-sim start --port 0 --in-memory --json --quiet\n  gateway-sim start --currency NPR:Rs --loose',
    );
}

function addPayments(add: Add, program: Command): void {
  const payments = async () => import('./commands/payments.ts');
  add(
    program,
    'pay [ref]',
    'settle a pending payment: the newest one, or by id or identifier',
    async () => (await payments()).pay,
  )
    .option('--approve', 'the customer pays')
    .option('--cancel', 'the customer cancels')
    .option('--fail', 'the payment fails')
    .option('--expire', 'the payment expires')
    .option('--all', 'every pending payment')
    .option('--wait <duration>', 'wait for the payment (and the server) to appear', duration)
    .option(
      '--delivery <order>',
      'ipn-then-redirect, redirect-then-ipn, ipn-only, redirect-only or ipn-twice',
    )
    .option('--require-delivery', 'exit 1 unless the first attempt was answered with 2xx')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway-sim pay --approve\n  gateway-sim pay order-1 --cancel\n  gateway-sim pay --approve --wait 30s --require-delivery',
    );
  const group = program.command('payments').description('list, show and create payments');
  add(group, 'list', 'payments, newest first', async () => (await payments()).list)
    .option('--status <status>', 'only pending, succeeded, canceled, failed or expired ones')
    .option('--mode <mode>', 'only sandbox or live ones')
    .option('--identifier <identifier>', 'only those of this identifier')
    .option('--limit <number>', 'at most so many (default: 50)')
    .option('--cursor <cursor>', 'go on where the last list ended');
  add(group, 'show <ref>', 'one payment and its whole story', async () => (await payments()).show)
    .option('--curl', 'its IPNs as curl commands, ready to paste')
    .option('--har', 'its IPNs as a HAR 1.2 document');
  add(group, 'create', 'initiate a payment as a merchant would', async () => (await payments()).create)
    .option('--amount <amount>', 'amount as decimal text', '100.00')
    .option('--currency <code>', 'currency code', 'USD')
    .option('--identifier <text>', 'identifier of the merchant (default: made up)')
    .option('--details <text>', 'what it is for', 'Test payment')
    .option('--ipn-url <url>', 'receiver of the IPN', 'http://localhost:3000/ipn')
    .option(
      '--success-url <url>',
      'where the browser goes on success (default: a thank-you page of the emulator)',
    )
    .option('--cancel-url <url>', 'where the browser goes on cancellation (default: a page of the emulator)')
    .option('--site-logo <url>', 'logo of the merchant (default: one of the emulator)')
    .option('--theme <theme>', 'light or dark')
    .option('--customer-name <text>', 'name of the customer', 'Ada Example')
    .option('--customer-email <e-mail>', 'e-mail of the customer', 'wallet@example.com')
    .option('--live', 'in live mode (default: sandbox)')
    .option('--open', 'open the checkout in the browser')
    .addHelpText(
      'after',
      '\nExample:\n  gateway-sim payments create --amount 49.90 --currency EUR --ipn-url http://localhost:3000/ipn --open',
    );
}

function addIpn(add: Add, program: Command): void {
  const ipn = async () => import('./commands/ipn.ts');
  const group = program.command('ipn').description('list, resend, make, verify and receive IPNs');
  add(group, 'list', 'deliveries with their attempts, newest first', async () => (await ipn()).list)
    .option('--payment <ref>', 'only those of this payment: id or identifier')
    .option('--state <state>', 'only pending, delivered, failed or refused ones')
    .option('--limit <number>', 'at most so many (default: 50)')
    .option('--cursor <cursor>', 'go on where the last list ended');
  add(group, 'show <id>', 'one delivery, both sides of every attempt', async () => (await ipn()).show);
  add(group, 'resend <id>', 'send a delivery once more', async () => (await ipn()).resend)
    .option('--to <url>', 'to another address, as a new delivery')
    .option('--require-delivery', 'exit 1 unless it was answered with 2xx');
  add(group, 'fire', 'send a signed IPN by hand, attempted once', async () => (await ipn()).fire)
    .option('--to <url>', 'address to send it to (default: the ipn_url of the payment)')
    .option('--payment <ref>', 'of this payment: id or identifier (default: one that never was)')
    .option('--identifier <text>', 'identifier of the merchant')
    .option('--amount <amount>', 'amount as decimal text')
    .option('--currency <code>', 'currency code (default: USD)')
    .option('--status <status>', 'status (default: success)')
    .option(
      '--set <field=value>',
      'any field, such as data.charge=1, set before signing; repeatable',
      fieldValue,
    )
    .option(
      '--tamper <what>',
      'signature, amount, identifier, status, currency, case or secret: must be refused',
    )
    .option('--format <format>', 'form or json')
    .option('--times <number>', 'so many deliveries of the same bytes')
    .option('--delay <duration>', 'wait before each of them')
    .option('--secret <key>', 'sign with this key and send from here: no server is needed')
    .option('--require-delivery', 'exit 1 unless each was answered with 2xx')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway-sim ipn fire --payment order-1\n  gateway-sim ipn fire --to http://localhost:3000/ipn --amount 49.90 --tamper amount\n  gateway-sim ipn fire --to http://localhost:3000/ipn --secret sec_sim_1 --set data.charge=1',
    );
  const secret = [
    '--secret <key>',
    'secret key to check with (default: that of the running emulator)',
  ] as const;
  const merchant = ['--merchant <name>', 'with the key of this merchant (default: the first one)'] as const;
  add(group, 'verify [body]', 'whether an IPN is valid, or why not', async () => (await ipn()).verify)
    .option('--body <body>', 'the body: its text, @file, or - for stdin (default: stdin)')
    .option(...secret)
    .option(...merchant)
    .option('--public-key <key>', 'to tell when this was mistaken for the secret key');
  add(
    group,
    'listen',
    'receive, verify and print IPNs',
    async () => (await import('./commands/listen.ts')).listen,
  )
    .option('--port <number>', 'port to listen on; 0 takes a free one (default: 3000)')
    .option('--forward-to <url>', 'pass everything on unchanged, and answer what is answered there')
    .option(...secret)
    .option(...merchant);
}

function addSimulator(add: Add, program: Command): void {
  const simulator = async () => import('./commands/simulator.ts');
  const keys = program.command('keys').description("the merchant's keys");
  add(keys, 'show', 'the pair of keys', async () => (await simulator()).showKeys).option(
    '--merchant <name>',
    'of this merchant (default: the first one)',
  );
  add(
    keys,
    'generate',
    'a new pair; the old one stops working',
    async () => (await simulator()).generateKeys,
  ).option('--merchant <name>', 'of this merchant; a new name makes one (default: the first one)');
  add(keys, 'env', 'the keys as lines of a .env file', async () => (await simulator()).keysEnv).option(
    '--merchant <name>',
    'of this merchant (default: the first one)',
  );
  const wallets = program.command('wallets').description('the wallets of live mode');
  add(wallets, 'list', 'all wallets', async () => (await simulator()).listWallets);
  add(
    wallets,
    'fund <id>',
    'put money into a wallet',
    async () => (await simulator()).fundWallet,
  ).requiredOption('--amount <amount>', 'amount as decimal text');
}

function addCards(add: Add, program: Command): void {
  const cards = async () => import('./commands/cards.ts');
  const group = program.command('cards').description('virtual cards');
  add(group, 'list', 'cards, newest first', async () => (await cards()).list)
    .option('--status <status>', 'only active, inactive or canceled ones')
    .option('--merchant <name>', 'only those of this merchant')
    .option('--limit <number>', 'at most so many (default: 50)')
    .option('--cursor <cursor>', 'go on where the last list ended');
  add(group, 'show <id>', 'one card and its transactions', async () => (await cards()).show);
  add(group, 'create', 'create a card as a merchant would', async () => (await cards()).create)
    .option('--amount <amount>', 'card total amount as decimal text', '100.00')
    .option('--currency <code>', 'currency code', 'USD')
    .option('--title <text>', 'title of the card', 'Test card')
    .option('--name-on-card <text>', 'name printed on it', 'Ada Example')
    .option('--email <e-mail>', 'e-mail of the holder', 'ada@example.com')
    .option('--merchant <name>', 'of this merchant (default: the first one)');
  add(group, 'activate <id>', 'activate an inactive card', async () => (await cards()).activate);
  add(group, 'block <id>', 'block an active card', async () => (await cards()).block);
  add(group, 'cancel <id>', 'cancel a card: that is final', async () => (await cards()).cancel);
  for (const [name, summary] of [
    ['charge', 'pay something with a card'],
    ['fund', 'add money to a card'],
  ] as const) {
    add(group, `${name} <id>`, summary, async () => (await cards())[name])
      .requiredOption('--amount <amount>', 'amount as decimal text')
      .option('--details <text>', 'what it is for')
      .option('--currency <code>', "must be the card's own where it is given");
  }
  group.addHelpText(
    'after',
    '\nExamples:\n  gateway-sim cards create --amount 250 --title Travel\n  gateway-sim cards charge <id> --amount 12.50 --details "Coffee"',
  );
}

function addTrouble(add: Add, program: Command): void {
  const faults = async () => import('./commands/faults.ts');
  const group = program.command('faults').description('make things go wrong on purpose');
  add(group, 'list', 'the rules in force', async () => (await faults()).list);
  add(
    group,
    'set <route>',
    'set a rule on initiate, checkout, cards, ipn or a path',
    async () => (await faults()).set,
  )
    .option('--status <code>', 'answer with this status (ipn: as if the receiver did)')
    .option('--retry-after <duration>', 'with this Retry-After; the status is 429 unless given')
    .option('--latency <duration>', 'wait first: 2s, or a range such as 100ms..2s')
    .option('--drop', 'close the connection without an answer (ipn: it is lost)')
    .option('--truncate', 'send half of the body')
    .option('--malformed', 'spoil the JSON')
    .option('--duplicate', 'ipn: send it twice')
    .option('--delay <duration>', "ipn: send it so much later, on the emulator's clock")
    .option('--reorder', 'ipn: let the next one overtake it')
    .option('--corrupt-signature', 'ipn: falsify the signature')
    .option('--times <number>', 'so many times (default: until cleared)')
    .option('--probability <number>', 'only this part of the time, such as 0.2')
    .option('--identifier <pattern>', 'only for these identifiers, such as order-*')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway-sim faults set initiate --status 503 --times 2\n  gateway-sim faults set ipn --drop --probability 0.2\n  gateway-sim faults set /api/cards/* --latency 100ms..2s',
    );
  add(group, 'clear [route]', 'take away all rules, or those on a route', async () => (await faults()).clear);
  const clock = async () => import('./commands/clock.ts');
  const time = program.command('clock').description('the time of the emulator');
  add(time, 'show', 'what time it is, and what is due next', async () => (await clock()).show);
  add(time, 'advance <duration>', 'move forward and run what falls due', async () => (await clock()).advance)
    // A negative duration is a mistake to be explained, not an unknown option.
    .allowUnknownOption()
    .addHelpText('after', '\nExample:\n  gateway-sim clock advance 2h');
  add(time, 'freeze [time]', 'stand still, now or at a time to come', async () => (await clock()).freeze);
  add(time, 'resume', 'go on from there', async () => (await clock()).resume);
}

function addWatch(add: Add, program: Command): void {
  const watch = async () => import('./commands/watch.ts');
  add(program, 'status', 'the running emulator', async () => (await watch()).status);
  add(program, 'stop', 'stop the running emulator', async () => (await watch()).stop);
  add(program, 'inbox', 'verification codes of live payments', async () => (await watch()).inbox);
  add(program, 'logs', 'what happened', async () => (await watch()).logs).option(
    '--follow',
    'and what happens next',
  );
  add(
    program,
    'open [what] [ref]',
    'open the dashboard, or "checkout" of a payment, in the browser',
    async () => (await watch()).open,
  );
}

/** `data.charge=1` as an argument of the command line, added to those before it. */
function fieldValue(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('Fields are set as name=value, such as data.charge=1.');
  }
  return { ...before, [name]: value };
}

/** A duration as an argument of the command line, in milliseconds. */
function duration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined)
    throw new InvalidArgumentError('Durations are written as 500ms, 2s, 1m or 1h.');
  return milliseconds;
}
