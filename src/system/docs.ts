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

/** Enough for one screen, with the best at its top (chosen). */
const MAX_FOUND = 10;

/**
 * The pages and sections that have these words, or longer words that begin with them: best first. Rare words count more,
 * and words of a heading, or of a short section, more again. Reference pages count less.
 */
export function searchDocs(pages: readonly DocPage[], text: string): DocSection[] {
  const sections = pages.flatMap(sectionsOf).map((section) => ({
    ...section,
    heads: wordsOf(section.heading),
    all: wordsOf(section.text),
  }));
  const scores = new Map(sections.map((section) => [section, 0]));
  for (const word of new Set(wordsOf(text))) {
    const counted = sections.map((section) => ({ section, share: shareOf(word, section.all) }));
    const having = counted.filter(({ share }) => share > 0);
    const rarity = Math.log(sections.length / having.length) + 0.1;
    for (const { section, share } of having) {
      const weight = 1 + 3 * Math.sqrt(shareOf(word, section.heads)) + 5 * Math.sqrt(share);
      const guide = section.group === 'Reference' ? 0.6 : 1;
      scores.set(section, (scores.get(section) ?? 0) + rarity * weight * guide);
    }
  }
  const best = Math.max(...scores.values());
  return [...scores]
    .filter(([, score]) => score > best / 2)
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_FOUND)
    .map(([{ topic, heading }]) => ({ topic, heading }));
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

/** The share of a text's words that begin with a word. */
function shareOf(word: string, all: readonly string[]): number {
  return all.filter((one) => one.startsWith(word)).length / Math.max(1, all.length);
}

/** The sections of a page. The first one, under its title, ends at the next heading. */
function sectionsOf({ topic, title, group, text }: DocPage) {
  return (
    text
      // A comment in a program is not a heading.
      .replace(/^```[\s\S]*?^```$/gm, (code) => code.replace(/^#/gm, ' #'))
      .split(/^#{1,4} /m)
      .slice(1)
      .map((section) => ({ topic, group, heading: section.split('\n', 1)[0] || title, text: section }))
  );
}
