import { shellWord } from '../contract/curl.ts';
import { type HintStyle, kebab } from '../contract/hint.ts';
import { type OptionSpec, START_OPTIONS } from '../options/table.ts';

/**
 * The style of a running emulator: `start` in a hint is the command that runs it, with the flags that it was given, so
 * that what a hint adds comes on top. Variables and configuration file hold for the next start by themselves.
 *
 * @param name the command, `start` or `exec`
 */
export function styleInForce(
  style: HintStyle,
  name: 'start' | 'exec',
  flags: Readonly<Record<string, unknown>>,
): HintStyle {
  const given = Object.entries(flags).flatMap(([flag, value]) => written(flag, value));
  return {
    ...style,
    command: (hint) => style.command(hint.command === 'start' ? { command: name, args: given } : hint),
  };
}

function written(name: string, value: unknown): string[] {
  const specs: Record<string, OptionSpec> = START_OPTIONS;
  const spec = specs[name];
  if (!spec && name !== 'config') return [];
  const flag = `--${kebab(name)}`;
  if (typeof value === 'boolean') return [value ? flag : `--no-${kebab(name)}`];
  // Secrets are not repeated in a log.
  if (spec?.kind === 'secret' && name !== 'publicKey') return [`${flag} '…'`];
  return [value].flat().map((one) => `${flag} ${shellWord(String(one))}`);
}
