import { expect, it } from 'vitest';
import { type DocPage, docPages, searchDocs } from '../../src/system/docs.ts';

const page = (topic: string, title: string, text: string): DocPage => ({
  topic,
  title,
  group: 'Guide',
  text: `# ${title}\n\n${text}`,
});

const PAGES = [
  page('state', 'State', 'Your data.\n\n## Export and reset\n\nResetting removes all payments.'),
  page('tests', 'Tests', 'A payment.\n\n```sh\n## reset\nnpm test\n```\n\n## Reset\n\nRemove payments.'),
];

const found = (words: string) => searchDocs(PAGES, words).map(({ topic, heading }) => `${topic}: ${heading}`);

it.each([
  ['the page that has all words, and its section', 'NPM, test', ['tests: Tests']],
  [
    'the heading with the greatest share of the words first',
    'reset',
    ['tests: Reset', 'state: Export and reset'],
  ],
  [
    'the section with the rarest word first, if none has all',
    'data payments',
    ['state: State', 'tests: Reset'],
  ],
  ['no word in the middle of another', 'port', []],
  ['nothing without a word', '?', []],
])('a search finds %s', (_, words, headings) => {
  expect(found(words)).toEqual(headings);
});

it('a search of the documentation finds headings', async () => {
  const [first] = searchDocs(await docPages(), 'signature');
  expect(first).toMatchObject({ topic: 'receive-and-verify', heading: 'The signature' });
});
