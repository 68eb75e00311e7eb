import { shellWord } from './curl.ts';
import { didYouMean, GatewayError } from './error.ts';
import type { FaultRule } from './fault.ts';
import { type CommandHint, command, kebab } from './hint.ts';

/** A fault that is wanted often, ready to be set (chosen). */
export interface FaultPreset {
  label: string;
  /** What it does, in a sentence. */
  does: string;
  rule: FaultRule;
}

export const FAULT_PRESETS = {
  'receiver-down': {
    label: 'Receiver down',
    does: 'Every IPN fails with 503 as if your receiver had answered it, and is tried again later.',
    rule: { route: 'ipn', status: 503 },
  },
  'slow-gateway': {
    label: 'Slow gateway',
    does: 'Every request to the service waits 5 seconds for its answer.',
    rule: { route: '/*', latency: '5s' },
  },
  'lost-ipn': {
    label: 'Lost IPN',
    does: 'The next IPN gets lost on the way: your receiver never sees that attempt.',
    rule: { route: 'ipn', drop: true, times: 1 },
  },
  'ipn-twice': {
    label: 'IPN twice',
    does: 'Every IPN that your receiver takes is sent a second time.',
    rule: { route: 'ipn', duplicate: true },
  },
} as const satisfies Record<string, FaultPreset>;

const PRESETS: ReadonlyMap<string, FaultPreset> = new Map(Object.entries(FAULT_PRESETS));

/** @throws GatewayError `invalid_fields` for a name that is none */
export function requirePreset(name: string): FaultPreset {
  const preset = PRESETS.get(name);
  if (preset) return preset;
  const known = [...PRESETS.keys()];
  const problem = `preset must be one of ${known.join(', ')} (got "${name.slice(0, 60)}")`;
  throw new GatewayError('invalid_fields', problem + didYouMean(name, known));
}

/** The command that sets a rule. */
export function commandFor({ route, ...members }: FaultRule): CommandHint {
  const flags = Object.entries(members).flatMap(([name, value]) => [
    `--${kebab(name)}`,
    ...(value === true ? [] : [String(value)]),
  ]);
  return command('faults set', shellWord(route), ...flags);
}
