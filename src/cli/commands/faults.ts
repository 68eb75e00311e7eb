import { command, hint } from '../../contract/error.ts';
import type { FaultRule } from '../../contract/fault.ts';
import { FAULT_CONDITIONS, FAULT_EFFECTS, type FaultMember } from '../../contract/fault-effects.ts';
import { defineCommand, type Group, type OptionDeclaration } from '../command.ts';
import { listed } from '../output.ts';

const MEMBERS = { ...FAULT_EFFECTS, ...FAULT_CONDITIONS };

const FIELDS = Object.fromEntries(
  Object.entries<FaultMember>(MEMBERS).map(([name, { kind, placeholder, description }]) => {
    const isNumber = kind === 'integer' || kind === 'fraction';
    const field: OptionDeclaration = {
      description,
      ...(placeholder && { placeholder }),
      ...(isNumber && { parse: numeric }),
    };
    return [name, field];
  }),
) as { [Name in keyof typeof MEMBERS]: OptionDeclaration<FaultRule[Name]> };

/** Anything but a number is passed as text, and the emulator rejects it. */
function numeric(written: string): unknown {
  return /^\d+(\.\d+)?$/.test(written) ? Number(written) : written;
}

const list = defineCommand({
  summary: 'list the active faults',
  run: async ({ call }) =>
    listed(
      await call('GET /faults'),
      {
        Fault: ({ summary }) => summary,
        Used: ({ used }) => String(used),
        State: ({ spent }) => (spent ? 'spent' : 'ON'),
      },
      hint`No faults. Set one with: ${command('faults set', 'initiate', '--status', '503', '--times', '2')}`,
    ),
});

/** Sets a rule. It replaces a rule with the same route and identifiers. */
const set = defineCommand({
  args: ['<route>'],
  summary: 'set a fault on initiate, checkout, cards, ipn or a path',
  fields: FIELDS,
  examples: [
    'faults set initiate --status 503 --times 2',
    'faults set ipn --drop --probability 0.2',
    "faults set '/api/cards/*' --latency 100ms..2s",
  ],
  run: async ({ args: [route], fields, call }) => {
    const fault = await call('POST /faults', { json: { route, ...fields } });
    return {
      json: fault,
      text: `FAULT ON  ${fault.summary}`,
      notices: [hint`Ends when the emulator stops; remove it now with: ${command('faults clear')}`],
    };
  },
});

const clear = defineCommand({
  args: ['[route]'],
  summary: 'clear all faults, or those on a route',
  examples: ['faults clear', 'faults clear initiate'],
  run: async ({ args: [route], call }) => {
    const answer = await call('DELETE /faults', { query: { route } });
    const left = answer.data.length;
    return { json: answer, text: `${answer.cleared} cleared${left ? `, ${left} left` : ''}` };
  },
});

export const faults: Group = {
  summary: 'simulate errors, delays and lost IPNs',
  examples: ['faults', 'faults set initiate --status 503 --times 2', 'faults clear'],
  commands: { list, set, clear },
};
