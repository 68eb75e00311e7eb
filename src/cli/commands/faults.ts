import { FAULT_CONDITIONS, FAULT_EFFECTS, type FaultMember } from '../../contract/fault-effects.ts';
import { type Declarations, group, type OptionDeclaration } from '../command.ts';

const FIELDS = { ...FAULT_EFFECTS, ...FAULT_CONDITIONS };

interface Values {
  on: true;
  integer: number;
  fraction: number;
  pattern: string;
  duration: string;
  latency: string;
}
type Options = {
  [Name in keyof typeof FIELDS]: OptionDeclaration<Values[(typeof FIELDS)[Name]['kind']] | undefined>;
};

/** What is no number goes on as text, and the emulator says so. */
function numeric(written: string): unknown {
  return /^\d+(\.\d+)?$/.test(written) ? Number(written) : written;
}

function optionsOf(
  fields: Readonly<Record<string, FaultMember>>,
): Readonly<Record<string, OptionDeclaration>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { kind, placeholder, description }]) => [
      name,
      {
        description,
        ...(placeholder && { placeholder }),
        ...((kind === 'integer' || kind === 'fraction') && { parse: numeric }),
      },
    ]),
  );
}

export const COMMANDS = {
  list: { summary: 'the rules in force' },
  set: {
    args: ['<route>'],
    summary: 'set a rule on initiate, checkout, cards, ipn or a path',
    fields: optionsOf(FIELDS) as Options,
    examples: [
      'faults set initiate --status 503 --times 2',
      'faults set ipn --drop --probability 0.2',
      'faults set /api/cards/* --latency 100ms..2s',
    ],
  },
  clear: {
    args: ['[route]'],
    summary: 'clear all rules, or those on a route',
    examples: ['faults clear', 'faults clear initiate'],
  },
} as const satisfies Declarations;

export const faults = group({
  name: 'faults',
  summary: 'make things go wrong on purpose',
  examples: ['faults', 'faults set initiate --status 503 --times 2', 'faults clear'],
  commands: COMMANDS,
  load: () => import('../actions/faults.ts'),
});
