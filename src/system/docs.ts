import { readdir, readFile } from 'node:fs/promises';
import { basename, join, posix, sep } from 'node:path';
import { packaged } from './package-info.ts';

export interface DocPage {
  /** Its name without folder and extension; no two pages share one. */
  topic: string;
  title: string;
  /** What its readers want to do: its heading in `llms.txt`, which lists every page. */
  group: string;
  text: string;
}

const CONTENTS = 'reference/llms.txt';

/** The documentation that the package contains, in the order and the groups of `llms.txt`. */
export async function docPages(): Promise<DocPage[]> {
  const folder = packaged('src/docs');
  const groups = groupsIn(await readFile(join(folder, CONTENTS), 'utf8'));
  const files = (await readdir(folder, { recursive: true }))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.replaceAll(sep, '/'));
  const order = [...groups.keys()];
  return Promise.all(
    files
      .sort((one, other) => order.indexOf(one) - order.indexOf(other))
      .map(async (file) => {
        const text = await readFile(join(folder, file), 'utf8');
        const title = /^# (.+)$/m.exec(text)?.[1] ?? '';
        return { topic: basename(file, '.md'), title, group: groups.get(file) ?? '', text };
      }),
  );
}

/** The group of each linked page. */
function groupsIn(contents: string): Map<string, string> {
  const groups = new Map<string, string>();
  let group = '';
  for (const line of contents.split('\n')) {
    [, group = group] = /^## (.+)$/.exec(line) ?? [];
    for (const [, link = ''] of line.matchAll(/\]\(([^)]+\.md)\)/g))
      groups.set(posix.join(posix.dirname(CONTENTS), link), group);
  }
  return groups;
}

/** A page, by its title, or a section of it that a search found. */
interface DocSection {
  topic: string;
  heading: string;
}

const MAX_FOUND = 20;

/**
 * The pages and sections that have all words, or longer words that begin with them. Those whose heading has the
 * greatest share of the words are first.
 */
export function searchDocs(pages: readonly DocPage[], text: string): DocSection[] {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  return pages
    .flatMap(sectionsOf)
    .filter(({ text }) => occurring(words, text).length === words.length)
    .map(({ topic, heading }) => {
      const share = occurring(words, heading).length / wordsOf(heading).length;
      return { topic, heading, share };
    })
    .sort((one, other) => other.share - one.share)
    .slice(0, MAX_FOUND)
    .map(({ share, ...section }) => section);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

function occurring(words: readonly string[], text: string): string[] {
  const all = [...new Set(wordsOf(text))];
  return words.filter((word) => all.some((one) => one.startsWith(word)));
}

/** The sections of a page. The first one, under its title, is the whole page. */
function sectionsOf({ topic, title, text }: DocPage) {
  const sections = text
    // A comment in a program is not a heading.
    .replace(/^```[\s\S]*?^```$/gm, (code) => code.replace(/^#/gm, ' #'))
    .split(/^#{2,4} /m)
    .slice(1)
    .map((section) => ({ topic, heading: section.split('\n', 1)[0] ?? '', text: section }));
  return [{ topic, heading: title, text }, ...sections];
}
