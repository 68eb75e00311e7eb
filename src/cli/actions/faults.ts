import { command, hint } from '../../contract/hint.ts';
import type { Actions } from '../commands/faults.ts';
import { listed } from '../layout.ts';

export const list: Actions['list'] = async ({ call }) =>
  listed(
    await call('GET /faults'),
    {
      Route: ({ route }) => route,
      Fault: ({ route, summary }) => summary.slice(route.length + 2),
      Used: ({ used }) => String(used),
      State: ({ spent }) => (spent ? 'spent' : 'ON'),
    },
    hint`No faults. Set one with: ${command('faults set', 'initiate', '--status', '503', '--times', '2')}`,
  );

/** Sets one rule, in the place of the one on the same route and identifiers. */
export const set: Actions['set'] = async ({ args: [route], fields, call }) => {
  const fault = await call('POST /faults', { json: { route, ...fields } });
  return {
    json: fault,
    text: `FAULT ON  ${fault.summary}`,
    notices: [hint`It is gone when the emulator stops, or with: ${command('faults clear')}`],
  };
};

export const clear: Actions['clear'] = async ({ args: [route], call }) => {
  const answer = await call('DELETE /faults', { query: { route } });
  const left = answer.data.length;
  return { json: answer, text: `${answer.cleared} cleared${left ? `, ${left} left` : ''}` };
};
