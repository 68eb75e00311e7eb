import { SOURCES, type Source } from './vocabulary.ts';

/*
 * A mark names the source of a behaviour, and the manifest lines that prove it: (observed: initiate-json*). Texts in
 * the code have marks in this form. Displayed texts keep only the word.
 */

const MARK = /\((documented|observed|chosen): ([a-z0-9*, -]+)\)/g;

export interface Marks {
  /** The text with each mark reduced to its word. */
  text: string;
  /** The strongest of its sources. */
  source: Source | undefined;
  /** Ids of lines; `*` matches anything. */
  lines: readonly string[];
}

export function readMarks(written: string): Marks {
  const lines = [...written.matchAll(MARK)].flatMap(([, , ids = '']) => ids.split(', '));
  const text = written.replace(MARK, '($1)');
  return { text, source: SOURCES.find((one) => text.includes(`(${one})`)), lines };
}

/** The known ids that match any line, in order and without duplicates. */
export function idsFor(lines: readonly string[], known: readonly string[]): string[] {
  const named = new Set(lines.filter((line) => !line.includes('*')));
  const open = lines.filter((line) => line.includes('*')).map((line) => line.replaceAll('*', '.*'));
  const pattern = open.length ? new RegExp(`^(?:${open.join('|')})$`) : undefined;
  return known.filter((id) => named.has(id) || pattern?.test(id));
}
