import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/** Files whose patterns read what others wrote, although the words also occur in a text of ours. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  'audit/cases/control.ts': 'the response of a shop',
  'audit/cases/robustness.ts': 'the response of a shop',
  'cli/format.ts': 'the HTML of a response',
  'cli/run.ts': 'a suggestion of commander',
  'conform/conform.ts': 'the path of a request',
  'conform/manifest.ts': 'the path of a request',
  'conform/session.ts': 'a placeholder in the manifest',
  'contract/page-origin.ts': 'the name of a host',
  'contract/printed-fields.ts': 'the output of a program',
  'delivery/egress.ts': 'the name of a host',
  'domain/host-map.ts': 'the address of a host',
  'domain/receiver-answer.ts': 'the response of a receiver',
  'http/guard.ts': 'a header',
  'http/pages/dashboard/new-payment.tsx': 'the name of a field',
  'http/pages/dashboard/requests.tsx': 'the body of a request',
};

/** A text of ours, with a gap for each inserted value. */
interface Sentence {
  file: string;
  text: string;
}

/** Code that searches a text for words. */
interface Reader {
  file: string;
  /** The source of a regular expression, or a literal. */
  sought: string;
  finds(text: string): string | undefined;
}

const GAP = '\u2026';
const SEARCHES = new Set(['startsWith', 'endsWith', 'includes', 'indexOf', 'split', 'replace', 'replaceAll']);
const isSentence = (text: string) => /[a-z]{2,} [a-z]{2,}/i.test(text);

interface Node {
  type: string;
  [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** Whether the parent searches a text for this literal. */
function isSought(parent: Node | undefined, key: string): boolean {
  const callee = parent?.type === 'CallExpression' && key === 'arguments' ? parent['callee'] : undefined;
  const property = isNode(callee) && callee.type === 'MemberExpression' ? callee['property'] : undefined;
  return isNode(property) && SEARCHES.has(String(property['name']));
}

function textsIn(file: string, source: string) {
  const sentences: Sentence[] = [];
  const readers: Reader[] = [];
  const walk = (value: unknown, parent: Node | undefined, key: string): void => {
    if (Array.isArray(value)) for (const one of value) walk(one, parent, key);
    if (!isNode(value)) return;
    const { regex, value: literal, quasis } = value;
    if (isRegex(regex)) readers.push(patternReader(file, regex));
    else if (typeof literal === 'string' && /Literal|JSXText/.test(value.type)) {
      const text = literal.replace(/\s+/g, ' ');
      if (isSought(parent, key)) readers.push(literalReader(file, literal));
      else if (isSentence(text)) sentences.push({ file, text });
    } else if (Array.isArray(quasis)) {
      const text = quasis.map((quasi) => quasi.value.cooked).join(GAP);
      if (isSentence(text)) sentences.push({ file, text });
    }
    for (const [name, inner] of Object.entries(value)) walk(inner, value, name);
  };
  walk(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body, undefined, '');
  return { sentences, readers };
}

function isRegex(value: unknown): value is { pattern: string; flags: string } {
  return typeof value === 'object' && value !== null && 'pattern' in value;
}

function literalReader(file: string, sought: string): Reader {
  return {
    file,
    sought,
    finds: (text) => (isSentence(sought) && text.includes(sought) ? sought : undefined),
  };
}

/** Only the words of a pattern count: nearly every text has spaces, digits and letters. */
function patternReader(file: string, { pattern, flags }: { pattern: string; flags: string }): Reader {
  const words = pattern.replace(/\\[a-z]|\[[^\]]*\]/gi, ' ').match(/[a-z]{4,}/gi) ?? [];
  const search = new RegExp(pattern, flags.replace(/[gy]/g, ''));
  const finds = (text: string) => {
    const found = words.length ? search.exec(text)?.[0] : undefined;
    const isWorded = words.some((word) => found?.toLowerCase().includes(word.toLowerCase()));
    return isWorded ? found : undefined;
  };
  return { file, sought: pattern, finds };
}

/** Every reader that finds a sentence of ours, with that sentence. */
function found(all: readonly ReturnType<typeof textsIn>[]): [Reader, Sentence][] {
  const sentences = all.flatMap((one) => one.sentences);
  return all
    .flatMap(({ readers }) => readers)
    .flatMap((reader): [Reader, Sentence][] => {
      const sentence = sentences.find(({ text }) => reader.finds(text) !== undefined);
      return sentence ? [[reader, sentence]] : [];
    });
}

describe('code that searches texts', () => {
  it('never finds a sentence of ours: a fact is data until it is shown', async () => {
    const files = (await readdir(SRC, { recursive: true })).filter((name) => /\.tsx?$/.test(name)).sort();
    const all = await Promise.all(
      files.map(async (file) => textsIn(file, await readFile(`${SRC}${file}`, 'utf8'))),
    );
    const read = found(all).map(([{ file, sought }, { text }]) => ({ file, sought, text }));
    expect(read.filter(({ file }) => !Object.hasOwn(OF_OTHERS, file))).toEqual([]);
    expect(Object.keys(OF_OTHERS).filter((file) => !read.some((one) => one.file === file))).toEqual([]);
  });

  it.each([
    [
      'a pattern',
      "const error = 'a fault rule: ' + rule; const [, read] = /fault rule: (.*)/.exec(error) ?? [];",
    ],
    ['the beginning of a text', "const note = 'signed again'; note.startsWith('signed again');"],
    ['a replacement', "const a = 'name is required'; a.replace(/^\\w+ is required$/, '');"],
  ])('is noticed if it does: %s', (_, source) => {
    expect(found([textsIn('a.ts', source)])).toHaveLength(1);
  });

  it.each([
    ["const a = 'the payment is pending'; /^\\s+$/.test(a);"],
    ["const a = 'the payment is pending'; /[a-z ]+/.test(a);"],
    ["const a = 'the payment is pending'; a.includes('of another');"],
  ])('may look for anything else: %s', (source) => {
    expect(found([textsIn('a.ts', source)])).toEqual([]);
  });
});
