import { masked } from '../contract/secrets.ts';
import { duration } from '../contract/time.ts';
import { givenAs, readValue } from '../options/resolve.ts';
import { type OptionName, type OptionSpec, START_OPTIONS } from '../options/start-options.ts';
import type { AppDependencies } from './environment.ts';

const DEFAULT = 'default';

/** An option of this emulator, as text. Secrets are masked. */
export interface Setting {
  id: OptionName;
  value: string;
  /** Where the value comes from. */
  from: string;
}

/** The options that someone or something set, and those with their defaults. */
export function settingsIn({ runtime: { options }, secrets }: Pick<AppDependencies, 'runtime' | 'secrets'>): {
  own: Setting[];
  defaults: Setting[];
} {
  const all = Object.entries<OptionSpec>(START_OPTIONS).map(([name, spec]): Setting => {
    const id = name as OptionName;
    const value = options[id];
    const standard = spec.default ?? (spec.kind === 'list' ? [] : undefined);
    const fallback = standard === undefined ? undefined : readValue(spec, standard, id);
    const isDefault = id === 'choices' || JSON.stringify(value) === JSON.stringify(fallback);
    const shown = spec.kind === 'duration' && typeof value === 'number' ? duration(value) : written(value);
    const isSecret = spec.kind === 'secret' && id !== 'publicKey' && typeof value === 'string';
    const from = givenAs(options, id) ?? (isDefault ? DEFAULT : 'the profile');
    return { id, value: isSecret ? masked(value) : secrets.mask(shown), from };
  });
  return {
    own: all.filter(({ from }) => from !== DEFAULT),
    defaults: all.filter(({ from }) => from === DEFAULT),
  };
}

function written(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '–');
  const parts = Array.isArray(value)
    ? value.map(written)
    : Object.entries(value).map(([name, part]) => `${name} ${written(part)}`);
  return parts.join(', ') || '–';
}
