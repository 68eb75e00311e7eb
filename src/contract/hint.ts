/*
 * What to do about a problem, as data: each output formats commands and options for its reader.
 */

/** A command of gateway-sim. */
export interface CommandHint {
  /** Its name, such as `keys show`. */
  command: string;
  /** Arguments, quoted for a shell. */
  args?: readonly string[];
}

/** An option of `start`. */
export interface OptionHint {
  /** Its camelCase name. */
  option: string;
  value?: string;
}

/** Texts, commands and options, in order. */
export type Hint = readonly (string | CommandHint | OptionHint)[];

/** How to format the commands and options of a hint. */
export interface HintStyle {
  command: (hint: CommandHint) => string;
  option: (hint: OptionHint) => string;
}

/** A command in a hint: its name and its shell-quoted arguments. */
export function command(name: string, ...args: readonly string[]): CommandHint {
  return { command: name, args };
}

/** An option in a hint, with an optional value. */
export function option(name: string, value?: string): OptionHint {
  return value === undefined ? { option: name } : { option: name, value };
}

/** Template tag: the values are commands, options and texts. */
export function hint(texts: TemplateStringsArray, ...values: readonly (Hint[number] | Hint)[]): Hint {
  return texts
    .flatMap((text, index) => [text, ...[values[index] ?? ''].flat()])
    .filter((part) => part !== '');
}

/** `dataDir` → `data-dir`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Formats hints as in the documentation: `gateway-sim keys show`, `--data-dir folder`. */
export const PLAIN: HintStyle = {
  command: ({ command: name, args = [] }) => ['gateway-sim', name, ...args].join(' '),
  option: ({ option: name, value }) => `--${kebab(name)}${value === undefined ? '' : ` ${value}`}`,
};

/** Formats hints for a package that is installed locally. */
export const NPX: HintStyle = { ...PLAIN, command: (hint) => `npx ${PLAIN.command(hint)}` };

/** A hint as text. */
export function renderHint(parts: Hint, style: HintStyle = PLAIN): string {
  return parts
    .map((part) =>
      typeof part === 'string' ? part : 'command' in part ? style.command(part) : style.option(part),
    )
    .join('');
}
