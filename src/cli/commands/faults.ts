import type { FaultRule } from '../../contract/fault.ts';
import { FAULT_CONDITIONS, FAULT_EFFECTS, type FaultMember } from '../../contract/fault-effects.ts';
import { FAULT_ROUTES } from '../../contract/vocabulary.ts';
import { type ActionsOf, type Declarations, group, type OptionDeclaration } from '../command.ts';

const MEMBERS = { ...FAULT_EFFECTS, ...FAULT_CONDITIONS };

const FIELDS = Object.fromEntries(
  Object.entries(MEMBERS).map(([name, member]) => [name, optionOf(member)]),
) as { [Name in keyof typeof MEMBERS]: OptionDeclaration<FaultRule[Name]> };

function optionOf({ kind, placeholder, description }: FaultMember): OptionDeclaration {
  const isNumber = kind === 'integer' || kind === 'fraction';
  return { description, ...(placeholder && { placeholder }), ...(isNumber && { parse: numeric }) };
}

/** What is no number goes on as text, and the emulator says so. */
function numeric(written: string): unknown {
  return /^\d+(\.\d+)?$/.test(written) ? Number(written) : written;
}

const COMMANDS = {
  list: { summary: 'the rules in force' },
  set: {
    args: ['<route>'],
    choices: FAULT_ROUTES,
    summary: 'set a rule on initiate, checkout, cards, ipn or a path',
    fields: FIELDS,
    neverGuess: true,
    examples: [
      'faults set initiate --status 503 --times 2',
      'faults set ipn --drop --probability 0.2',
      'faults set /api/cards/* --latency 100ms..2s',
    ],
  },
  clear: {
    args: ['[route]'],
    summary: 'clear all rules, or those on a route',
    neverGuess: true,
    examples: ['faults clear', 'faults clear initiate'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const faults = group({
  name: 'faults',
  summary: 'make things go wrong on purpose',
  examples: ['faults', 'faults set initiate --status 503 --times 2', 'faults clear'],
  commands: COMMANDS,
  load: () => import('../actions/faults.ts'),
});
