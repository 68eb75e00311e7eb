import { readdir, readFile } from 'node:fs/promises';
import { basename, join, posix, sep } from 'node:path';
import { packaged } from './package-info.ts';

export interface DocPage {
  /** Its name without folder and extension; no two pages share one. */
  topic: string;
  /** Its path in the documentation, with slashes. Links in the page are relative to it. */
  file: string;
  title: string;
  /** What its readers want to do: its heading in `llms.txt`, which lists every page. */
  group: string;
  /** What `llms.txt` says about it; may be empty. */
  about: string;
  text: string;
}

const CONTENTS = 'reference/llms.txt';

/** The documentation that the package contains, in the order and the groups of `llms.txt`. */
export async function docPages(): Promise<DocPage[]> {
  const folder = packaged('src/docs');
  const listed = listedIn(await readFile(join(folder, CONTENTS), 'utf8'));
  const files = (await readdir(folder, { recursive: true }))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.replaceAll(sep, '/'));
  const order = [...listed.keys()];
  return Promise.all(
    files
      .sort((one, other) => order.indexOf(one) - order.indexOf(other))
      .map(async (file) => {
        const text = await readFile(join(folder, file), 'utf8');
        const title = /^# (.+)$/m.exec(text)?.[1] ?? '';
        const { group = '', about = '' } = listed.get(file) ?? {};
        return { topic: basename(file, '.md'), file, title, group, about, text };
      }),
  );
}

/** The group of each linked page, and what its line says about it. */
function listedIn(contents: string): Map<string, Pick<DocPage, 'group' | 'about'>> {
  const listed = new Map<string, Pick<DocPage, 'group' | 'about'>>();
  let group = '';
  for (const line of contents.split('\n')) {
    [, group = group] = /^## (.+)$/.exec(line) ?? [];
    const [, about = ''] = /\): (.+)$/.exec(line) ?? [];
    for (const [, link = ''] of line.matchAll(/\]\(([^)]+\.md)\)/g))
      listed.set(posix.join(posix.dirname(CONTENTS), link), { group, about });
  }
  return listed;
}

/** A part of a page that a search found. */
interface DocSection {
  topic: string;
  file: string;
  heading: string;
}

const MAX_FOUND = 20;

/** Words of a question that say nothing about its subject. */
const FILLERS: ReadonlySet<string> = new Set(
  'a an and any are at be by can could do does for from get go have how i if in is it its me my of on or our should so that the then there this to was we what when where which who whose why will with you your'.split(
    ' ',
  ),
);

/** What readers say, and the word of the pages for it. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['callback', 'ipn'],
  ['certificate', 'https'],
  ['crash', 'fail'],
  ['difference', 'differ'],
  ['docker', 'container'],
  ['error', 'fail'],
  ['guarantee', 'promise'],
  ['headless', 'browser'],
  ['hmac', 'signature'],
  ['kubernetes', 'container'],
  ['notification', 'ipn'],
  ['pipeline', 'ci'],
  ['ssl', 'https'],
  ['storage', 'state'],
  ['tls', 'https'],
  ['webhook', 'ipn'],
]);

/** What a word is worth, by the place where it is found. */
const WORTH = { heading: 8, about: 6, group: 2, prose: 1, code: 0.5 } as const;
/** What another form of the word is worth, such as a plural, relative to the word itself. */
const OTHER_FORM = 0.6;
/** What the reference is worth, relative to the guide. */
const REFERENCE = 0.2;

type Place = keyof typeof WORTH;

/**
 * The sections that answer a question, best first. A word counts most in a heading, and more if few sections have it.
 * A section with only some of the words loses the square of their share.
 */
export function searchDocs(pages: readonly DocPage[], question: string): DocSection[] {
  const all = wordsOf(question);
  const telling = all.filter((word) => !FILLERS.has(word));
  const words = telling.length ? telling : all;
  const sections = pages.flatMap(sectionsOf);
  const matches = words.map((word) => {
    const worths = sections.map(({ places }) => worthOf(word, places));
    const found = worths.filter((worth) => worth > 0).length;
    return worths.map((worth) => worth * Math.log(1 + sections.length / (1 + found)));
  });
  return sections
    .map((section, index) => {
      const worths = matches.map((worth) => worth[index] ?? 0);
      const total = worths.reduce((sum, worth) => sum + worth, 0);
      const share = worths.filter((worth) => worth > 0).length / words.length;
      const rank = total * share ** 2 * (section.file.startsWith('reference/') ? REFERENCE : 1);
      return { ...section, rank };
    })
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .slice(0, MAX_FOUND)
    .map(({ topic, file, heading }) => ({ topic, file, heading }));
}

/** The sections of a page with the words of each place. What `llms.txt` says about the page belongs to its first section. */
function sectionsOf({ topic, file, text, group, about }: DocPage) {
  return (
    text
      // A comment in a program is not a heading.
      .replace(/^```[\s\S]*?^```$/gm, (code) => code.replace(/^#/gm, ' #'))
      .split(/^(?=#{1,4} )/m)
      .filter((section) => section.startsWith('#'))
      .map((section, index) => {
        const [heading = ''] = section.replace(/^#+ /, '').split('\n');
        const prose = section.replace(/^```[\s\S]*?^ ?```$/gm, '');
        const isFirst = index === 0;
        const texts: Record<Place, string> = {
          heading: isFirst ? `${heading} ${topic}` : heading,
          about: isFirst ? about : '',
          group: isFirst ? group : '',
          prose,
          code: section,
        };
        const places = Object.entries(texts).map(
          ([place, text]) => [place as Place, new Set(wordsOf(text))] as const,
        );
        return { topic, file, heading, places };
      })
  );
}

/** What a word is worth in a section: its best place counts. */
function worthOf(word: string, places: readonly (readonly [Place, ReadonlySet<string>])[]): number {
  const wanted = [word, SYNONYMS.get(word) ?? SYNONYMS.get(word.replace(/s$/, '')) ?? word];
  const worths = places.map(([place, words]) => {
    if (wanted.some((one) => words.has(one))) return WORTH[place];
    const stems = wanted.map(stemOf);
    return [...words].some((one) => stems.some((stem) => isForm(one, stem))) ? WORTH[place] * OTHER_FORM : 0;
  });
  return Math.max(...worths);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

const stemOf = (word: string): string => word.replace(/(?<=\w{3})(?:ies|es|s|ing|ed|e|y)$/, '');

/** Whether a word is a form of a stem: the stem with any ending, or with a short one if it is short. */
const isForm = (word: string, stem: string): boolean =>
  word.startsWith(stem) && (stem.length > 3 || word.length < stem.length + 3);
