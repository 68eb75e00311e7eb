import { Chalk } from 'chalk';
import { OBEYED_BY_TERMINALS } from '../contract/curl.ts';

/*
 * Text from merchants and receivers may contain escape sequences and characters that change the text direction. They are
 * never sent to a terminal (chosen), but written as in JSON, such as \u001b. Colours are put on here, after that, so no
 * text from outside can be one.
 */

/** Escapes text from outside. Line breaks stay. */
export function escaped(text: string): string {
  return text.replace(
    OBEYED_BY_TERMINALS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Escapes a value in a line or cell, so that its line breaks cannot fake other lines. */
export function onOneLine(value: string): string {
  return escaped(value).replaceAll('\n', '\\u000a');
}

const COLOURS = ['bold', 'red', 'green', 'yellow', 'blue', 'cyan', 'gray'] as const;

type Colour = (typeof COLOURS)[number];

/** Escaped text, which may have colours. */
export class Printed {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** A template whose values are each on one line. */
  static line(template: TemplateStringsArray, ...values: readonly (string | number | Printed)[]): Printed {
    const texts = values.map((value) => (value instanceof Printed ? value.text : onOneLine(String(value))));
    return new Printed(String.raw({ raw: template }, ...texts));
  }

  /** Texts one below the other. */
  static lines(texts: readonly (string | Printed)[], separator = '\n'): Printed {
    return new Printed(
      texts.map((one) => (one instanceof Printed ? one.text : escaped(one))).join(separator),
    );
  }

  /** The functions that put on colours. @param isOn whether they do */
  static colours(isOn: boolean): Colours {
    const chalk = new Chalk({ level: isOn ? 1 : 0 });
    const painted = (colour: Colour) => (text: string) => new Printed(chalk[colour](onOneLine(text)));
    return Object.fromEntries(COLOURS.map((colour) => [colour, painted(colour)])) as Colours;
  }

  /** As `wrapped`. */
  wrapped(indent: string): Printed {
    return new Printed(inLines(this.text, indent));
  }
}

export type Colours = Readonly<Record<Colour, (text: string) => Printed>>;

/** The width of the terminal; without one, that of most. */
export const columns = (): number => process.stdout.columns ?? (Number(process.env['COLUMNS']) || 80);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const shownLength = (text: string) => text.replace(/\u001b\[\d+m/g, '').length;

/**
 * A line, on as many lines as it needs. Words, such as addresses, stay whole, and so does what stands between two wide
 * spaces, such as a command, if it fits on a line. What does not fit at all stays beside its label.
 *
 * @param indent begins the further lines
 */
export function wrapped(text: string, indent: string): string {
  return inLines(escaped(text), indent);
}

function inLines(text: string, indent: string): string {
  const fits = (start: string, part: string) => shownLength(start) + shownLength(part) <= columns();
  const parts = (text.match(/\s*\S+(?: \S+)*/g) ?? []).flatMap((part) =>
    fits(indent, part.trimStart()) ? part : (part.match(/\s*\S+/g) ?? []),
  );
  const lines: string[] = [];
  let line = '';
  for (const part of parts) {
    const isLabel = !lines.length && line.length <= indent.length;
    if (fits(line, part) || (isLabel && !fits(indent, part.trimStart()))) line += part;
    else {
      lines.push(line);
      line = indent + part.trimStart();
    }
  }
  return [...lines, line].join('\n');
}

/** Lines of prose, each on as many lines as it needs. */
export const flowing = (text: string): string =>
  text
    .split('\n')
    .map((line) => wrapped(line, '  '))
    .join('\n');
