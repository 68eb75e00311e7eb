import { kebab } from '../../contract/hint.ts';
import { SEEN_IN_PS } from '../../options/secret-file.ts';
import { type OptionSpec, START_OPTIONS } from '../../options/table.ts';
import { type ActionsOf, type Declarations, group, list, type OptionDeclaration, text } from '../command.ts';

/**
 * The flags of `start`, made of the options table, and the one for its file.
 *
 * @param defaults in words, where they are others than those of `start`
 */
export function startFlags(
  isWanted: (spec: OptionSpec) => boolean,
  defaults: Readonly<Record<string, string>> = {},
) {
  const flags = Object.entries<OptionSpec>(START_OPTIONS)
    .filter(([, spec]) => spec.kind !== 'structure' && isWanted(spec))
    .map(([name, spec]): [string, OptionDeclaration] => [name, flagOf(name, spec, defaults[name])]);
  return {
    ...Object.fromEntries(flags),
    config: text('file', 'configuration file (default: gateway-sim.config.json, where there is one)'),
  };
}

function flagOf(
  name: string,
  spec: OptionSpec,
  fallback: OptionSpec['default'] = spec.default,
): OptionDeclaration {
  const { kind, description, choices, placeholder = choices?.join('|') } = spec;
  if (kind === 'boolean') {
    return spec.default === true
      ? { flag: `--no-${kebab(name)}`, description: `do not ${description}` }
      : { description };
  }
  const shown = fallback === undefined ? '' : ` (default: ${fallback})`;
  const isSecret = kind === 'secret' && name !== 'publicKey';
  return {
    description: `${description}${shown}${isSecret ? `; ${SEEN_IN_PS}` : ''}`,
    ...(placeholder !== undefined && { placeholder }),
    ...(kind === 'list' && { parse: list(name, description).parse }),
  };
}

const COMMANDS = {
  start: {
    summary: 'start the emulator',
    options: startFlags(() => true),
    examples: [
      'start',
      'start --port 0 --in-memory --json --quiet',
      'start --currency NPR:Rs --loose',
      'start --detach',
    ],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const start = group({ commands: COMMANDS, load: () => import('../actions/start.ts') });
