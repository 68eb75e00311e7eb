import { createHash } from 'node:crypto';
import { givenAs } from './resolve.ts';
import { EMULATOR_OPTIONS, type OptionName, type ResolvedOptions } from './table.ts';

/** What an emulator runs by: a mark for the value of each option, which tells nothing of the value. */
export type OptionMarks = Readonly<Record<string, string>>;

export function optionMarks(options: ResolvedOptions): OptionMarks {
  const values: Readonly<Record<string, unknown>> = options;
  return Object.fromEntries(EMULATOR_OPTIONS.map((name) => [name, markOf(values[name])]));
}

const markOf = (value: unknown) =>
  createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('base64url')
    .slice(0, 12);

/** The first option that was asked for and is not in force, as it was given; undefined where all are. */
export function firstDiffering(asked: ResolvedOptions, inForce: OptionMarks): string | undefined {
  const marks = optionMarks(asked);
  return (Object.keys(marks) as OptionName[])
    .filter((name) => marks[name] !== inForce[name] && !(name === 'port' && asked.port === 0))
    .map((name) => givenAs(asked, name))
    .find((given) => given !== undefined);
}
