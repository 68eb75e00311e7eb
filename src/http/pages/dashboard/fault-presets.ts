import * as z from 'zod/mini';
import { shellWord } from '../../../contract/curl.ts';
import { type CommandHint, command, kebab } from '../../../contract/error.ts';
import type { FaultRule } from '../../../contract/fault.ts';
import { parseInput } from '../../../contract/input.ts';
import { namesOf } from '../../../contract/vocabulary.ts';

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

const PresetForm = z.strictObject({ preset: z.enum(namesOf(FAULT_PRESETS)) });

/** @throws GatewayError `invalid_fields` for an unknown name */
export function requirePreset(name: string | undefined): FaultPreset {
  return FAULT_PRESETS[parseInput(PresetForm, { preset: name }).preset];
}

/** The command that sets a rule. */
export function commandFor({ route, ...members }: FaultRule): CommandHint {
  const flags = Object.entries(members).flatMap(([name, value]) => [
    `--${kebab(name)}`,
    ...(value === true ? [] : [String(value)]),
  ]);
  return command('faults set', shellWord(route), ...flags);
}
