/*
 * What a user can do about something, as data: each edge writes commands and options the way its reader would.
 */

/** A command of gateway-sim. */
export interface CommandHint {
  /** Its name, such as `keys show`. */
  command: string;
  /** What follows the name, ready for a shell. */
  args?: readonly string[];
}

/** An option of `start`. */
export interface OptionHint {
  /** Its camelCase name. */
  option: string;
  value?: string;
}

/** Text, commands and options in the order in which they are read. */
export type Hint = readonly (string | CommandHint | OptionHint)[];

/** How an edge writes the parts of a hint that are no plain text. */
export interface HintStyle {
  command: (hint: CommandHint) => string;
  option: (hint: OptionHint) => string;
}

/** A command in a hint: its name, then its arguments as a shell takes them. */
export function command(name: string, ...args: readonly string[]): CommandHint {
  return { command: name, args };
}

/** An option in a hint, with a value where one helps. */
export function option(name: string, value?: string): OptionHint {
  return value === undefined ? { option: name } : { option: name, value };
}

/** A template whose values are commands, options and texts. */
export function hint(texts: TemplateStringsArray, ...values: readonly (Hint[number] | Hint)[]): Hint {
  return texts
    .flatMap((text, index) => [text, ...[values[index] ?? ''].flat()])
    .filter((part) => part !== '');
}

/** `dataDir` → `data-dir`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** As the documentation writes them: `gateway-sim keys show`, `--data-dir folder`. */
export const PLAIN: HintStyle = {
  command: ({ command: name, args = [] }) => ['gateway-sim', name, ...args].join(' '),
  option: ({ option: name, value }) => `--${kebab(name)}${value === undefined ? '' : ` ${value}`}`,
};

/** As typed where the package is installed, but not globally. */
export const NPX: HintStyle = { ...PLAIN, command: (hint) => `npx ${PLAIN.command(hint)}` };

/** A hint as text. */
export function renderHint(parts: Hint, style: HintStyle = PLAIN): string {
  return parts
    .map((part) =>
      typeof part === 'string' ? part : 'command' in part ? style.command(part) : style.option(part),
    )
    .join('');
}
