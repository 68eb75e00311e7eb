import type { Command } from 'commander';
import type { Add } from '../program.ts';

/** The commands that look at a running emulator, and stop it. */
export function addWatch(add: Add, program: Command): void {
  const watch = async () => import('../commands/watch.ts');
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
