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
        return { topic: basename(file, '.md'), file, title, group: groups.get(file) ?? '', text };
      }),
  );
}

/** The group of each linked page. */
function groupsIn(contents: string): Map<string, string> {
  const groups = new Map<string, string>();
  let group = '';
  for (const [, heading, link = ''] of contents.matchAll(/^## (.+)$|\]\(([^)]+\.md)\)/gm)) {
    if (heading === undefined) groups.set(posix.join(posix.dirname(CONTENTS), link), group);
    else group = heading;
  }
  return groups;
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
  'a an the how what where when which why do does i my is are can to it of in for with'.split(' '),
);

/** The sections that contain every word of a question: in the heading first, then in the text, then in programs; the reference last. */
export function searchDocs(pages: readonly DocPage[], text: string): DocSection[] {
  const all = text
    .toLowerCase()
    .replace(/[?!.,]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);
  const telling = all.filter((word) => !FILLERS.has(word));
  const words = telling.length ? telling : all;
  const holds = (part: string) => words.every((word) => part.toLowerCase().includes(word));
  const sections = pages.flatMap(({ topic, file, text: whole }) =>
    whole
      // A comment in a program is not a heading.
      .replace(/^```[\s\S]*?^```$/gm, (code) => code.replace(/^#/gm, ' #'))
      .split(/^(?=#{1,4} )/m)
      .filter((section) => section.startsWith('#') && holds(section))
      .map((section) => {
        const [heading = ''] = section.replace(/^#+ /, '').split('\n');
        const prose = section.replace(/^```[\s\S]*?^ ?```$/gm, '');
        const rank = (holds(heading) ? 0 : holds(prose) ? 1 : 2) + (file.startsWith('reference/') ? 3 : 0);
        return { topic, file, heading, rank };
      }),
  );
  return sections
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MAX_FOUND)
    .map(({ topic, file, heading }) => ({ topic, file, heading }));
}
