import type { Command } from 'commander';
import { option } from '../../contract/hint.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';
import { duration } from './values.ts';

/** The commands that look at a running emulator, and stop it. */
export function addWatch(add: Add, program: Command): void {
  const watch = async () => import('../actions/watch.ts');
  add(program, 'status', 'the running emulator', async () => (await watch()).status).addHelpText(
    ...examples('gateway-sim status'),
  );
  add(program, 'stop', 'stop the running emulator', async () => (await watch()).stop).addHelpText(
    ...examples('gateway-sim stop'),
  );
  add(program, 'wait', 'wait until the emulator is ready', async () => (await watch()).wait)
    .option('--timeout <duration>', 'give up after this long, with exit code 3 (default: 30s)', duration)
    .addHelpText(...examples('gateway-sim wait', 'gateway-sim wait --timeout 2m --url http://gateway:4477'));
  add(program, 'inbox', 'verification codes of live payments', async () => (await watch()).inbox).addHelpText(
    ...examples('gateway-sim inbox'),
  );
  add(program, 'logs', 'what happened', async () => (await watch()).logs)
    .option('--follow', 'and what happens next')
    .addHelpText(...examples('gateway-sim logs', 'gateway-sim logs --follow'));
  add(
    program,
    'open [what] [ref]',
    'open the dashboard, or "checkout" of a payment, in the browser',
    async () => (await watch()).open,
  ).addHelpText(...examples('gateway-sim open', 'gateway-sim open checkout order-1'));
}
