import type { Command } from 'commander';
import { command, option } from '../../contract/hint.ts';
import type { Add } from '../program.ts';
import { examples } from './examples.ts';

/** The commands of `state`. */
export function addState(add: Add, program: Command): void {
  const state = async () => import('../actions/state.ts');
  const group = program
    .command('state')
    .description('the whole state: reset, out and in')
    .addHelpText(...examples('gateway-sim state export paid-orders.json', 'gateway-sim state reset'));
  add(
    group,
    'reset',
    'back to the fixtures; merchants keep their keys',
    async () => (await state()).resetState,
  )
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      '\nWhere no emulator runs, the state of the data folder is put aside, in a folder inside it, and the next start\nmakes a new one. This also helps when the state is damaged.',
    )
    .addHelpText(
      ...examples('gateway-sim state reset', 'gateway-sim state reset --yes --data-dir .gateway-sim'),
    );
  add(
    group,
    'export <file>',
    'write the whole state to a file; - is stdout',
    async () => (await state()).exportState,
  )
    .option('--force', 'write over a file that is no state')
    .addHelpText(
      ...examples(
        'gateway-sim state export paid-orders.json',
        'gateway-sim state export - >paid-orders.json',
      ),
    );
  add(
    group,
    'import <file>',
    'put the state of a file in the place of the present one; - is stdin',
    async () => (await state()).importState,
  )
    .option('--yes', 'do not ask')
    .addHelpText(...examples('gateway-sim state import paid-orders.json'));
}
