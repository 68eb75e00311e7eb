import { command, hint } from '../../contract/hint.ts';
import type { ContextOf } from '../command.ts';
import type { COMMANDS } from '../commands/faults.ts';
import { listed } from '../layout.ts';
import type { CommandResult } from '../output.ts';

type Context<Name extends keyof typeof COMMANDS> = ContextOf<(typeof COMMANDS)[Name]>;

export async function list({ connect }: Context<'list'>) {
  const server = await connect();
  const page = await server.call('GET /faults');
  return listed(
    page,
    {
      Route: ({ route }) => route,
      Fault: ({ route, summary }) => summary.slice(route.length + 2),
      Used: ({ used }) => String(used),
      State: ({ spent }) => (spent ? 'spent' : 'ON'),
    },
    hint`No faults. Set one with: ${command('faults set', 'initiate', '--status', '503', '--times', '2')}`,
  );
}

/** Sets one rule, in the place of the one on the same route and identifiers. */
export async function set({ args: [route], fields, connect }: Context<'set'>): Promise<CommandResult> {
  const server = await connect();
  const fault = await server.call('POST /faults', { json: { route, ...fields } });
  return {
    json: fault,
    text: `FAULT ON  ${fault.summary}`,
    notices: [hint`It is gone when the emulator stops, or with: ${command('faults clear')}`],
  };
}

export async function clear({ args: [route], connect }: Context<'clear'>): Promise<CommandResult> {
  const server = await connect();
  const query = route === undefined ? {} : { route };
  const answer = await server.call('DELETE /faults', { query });
  const left = answer.data.length;
  return { json: answer, text: `${answer.cleared} cleared${left ? `, ${left} left` : ''}` };
}
