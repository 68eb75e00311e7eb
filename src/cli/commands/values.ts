import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../contract/duration.ts';

/** `data.charge=1` as an argument of the command line, added to those before it. */
export function fieldValue(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('Fields are set as name=value, such as data.charge=1.');
  }
  return { ...before, [name]: value };
}

/** A duration as an argument of the command line, in milliseconds. */
export function duration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined)
    throw new InvalidArgumentError('Durations are written as 500ms, 2s, 1m or 1h.');
  return milliseconds;
}

/**
 * An option with the values that help and shell offer for it. Another one goes on to whoever takes the value, who says
 * better what is wrong with it than a list could.
 */
export function oneOf(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...values];
  return option;
}
