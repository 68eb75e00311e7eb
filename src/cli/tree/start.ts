import { type Command, Option } from 'commander';
import { kebab, type OptionSpec, START_OPTIONS } from '../../options.ts';
import type { Add } from '../program.ts';

/** The command `start`, its flags made of the options table. */
export function addStart(add: Add, program: Command): void {
  const start = add(
    program,
    'start',
    'start the emulator',
    async () => (await import('../commands/start.ts')).start,
  );
  for (const [name, spec] of Object.entries<OptionSpec>(START_OPTIONS)) {
    if (spec.kind === 'structure') continue;
    const flag =
      spec.kind === 'boolean'
        ? `--${spec.default === true ? 'no-' : ''}${kebab(name)}`
        : `--${kebab(name)} <${spec.placeholder ?? spec.choices?.join('|')}>`;
    const shown = spec.kind === 'boolean' || spec.default === undefined ? '' : ` (default: ${spec.default})`;
    const option = new Option(
      flag,
      spec.default === true ? `do not ${spec.description}` : `${spec.description}${shown}`,
    );
    // A repeated flag adds to the list; a text with commas is taken apart later, like that of a variable.
    if (spec.kind === 'list')
      option.argParser((value: string, list: string[] = []) => [...list, ...value.split(',')]);
    start.addOption(option);
  }
  start
    .option('--config <file>', 'configuration file (default: gateway-sim.config.json, where there is one)')
    .option('--open', 'open the dashboard in the browser')
    .option('--quiet', 'say nothing but the ready line and errors')
    .addHelpText(
      'after',
      '\nExamples:\n  gateway-sim start\n  gateway-sim start --port 0 --in-memory --json --quiet\n  gateway-sim start --currency NPR:Rs --loose',
    );
}
