import { shellWord } from './curl.ts';
import { didYouMean, GatewayError } from './error.ts';
import type { FaultRule } from './fault.ts';
import { type CommandHint, command, kebab } from './hint.ts';

/** A common fault, ready to set (chosen). */
interface FaultPreset {
  label: string;
  /** What it does, in one sentence. */
  does: string;
  rule: FaultRule;
}

export const FAULT_PRESETS = {
  'receiver-down': {
    label: 'Receiver down',
    does: 'Every IPN fails as if your receiver had answered 503, and is retried later.',
    rule: { route: 'ipn', status: 503 },
  },
  'slow-gateway': {
    label: 'Slow gateway',
    does: 'Every response of the service takes 5 seconds longer.',
    rule: { route: '/*', latency: '5s' },
  },
  'lost-ipn': {
    label: 'Lost IPN',
    does: 'The next attempt is lost: your receiver never sees it.',
    rule: { route: 'ipn', drop: true, times: 1 },
  },
  'ipn-twice': {
    label: 'IPN twice',
    does: 'Every IPN that your receiver accepts is sent a second time.',
    rule: { route: 'ipn', duplicate: true },
  },
} as const satisfies Record<string, FaultPreset>;

const PRESETS: ReadonlyMap<string, FaultPreset> = new Map(Object.entries(FAULT_PRESETS));

/** @throws GatewayError `invalid_fields` for an unknown name */
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
