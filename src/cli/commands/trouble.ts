import type { Command } from 'commander';
import { command, option } from '../../contract/hint.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';

/** The commands of `faults` and `clock`. */
export function addTrouble(add: Add, program: Command): void {
  const faults = async () => import('../actions/faults.ts');
  const group = program
    .command('faults')
    .description('make things go wrong on purpose')
    .addHelpText(
      ...examples(
        'gateway-sim faults',
        'gateway-sim faults set initiate --status 503 --times 2',
        'gateway-sim faults clear',
      ),
    );
  add(group, 'list', 'the rules in force', async () => (await faults()).list).addHelpText(
    ...examples('gateway-sim faults list'),
  );
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
    .option('--corrupt-signature', 'ipn: applyTampering the signature')
    .option('--times <number>', 'so many times (default: until cleared)')
    .option('--probability <number>', 'only this part of the time, such as 0.2')
    .option('--identifier <pattern>', 'only for these identifiers, such as order-*')
    .addHelpText(
      ...examples(
        'gateway-sim faults set initiate --status 503 --times 2',
        'gateway-sim faults set ipn --drop --probability 0.2',
        'gateway-sim faults set /api/cards/* --latency 100ms..2s',
      ),
    );
  add(
    group,
    'clear [route]',
    'take away all rules, or those on a route',
    async () => (await faults()).clear,
  ).addHelpText(...examples('gateway-sim faults clear', 'gateway-sim faults clear initiate'));
  const clock = async () => import('../actions/clock.ts');
  const time = program
    .command('clock')
    .description('the time of the emulator')
    .addHelpText(...examples('gateway-sim clock', 'gateway-sim clock advance 2h'));
  add(time, 'show', 'what time it is, and what is due next', async () => (await clock()).show).addHelpText(
    ...examples('gateway-sim clock show'),
  );
  add(time, 'advance <duration>', 'move forward and run what falls due', async () => (await clock()).advance)
    // A negative duration is a mistake to be explained, not an unknown option.
    .allowUnknownOption()
    .addHelpText(...examples('gateway-sim clock advance 2h'));
  add(
    time,
    'freeze [time]',
    'stand still, now or at a time to come',
    async () => (await clock()).freeze,
  ).addHelpText(...examples('gateway-sim clock freeze', 'gateway-sim clock freeze 2030-01-01T00:00:00Z'));
  add(time, 'resume', 'go on from there', async () => (await clock()).resume).addHelpText(
    ...examples('gateway-sim clock resume'),
  );
}
