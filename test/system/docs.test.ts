import { expect, it } from 'vitest';
import { docPages, searchDocs } from '../../src/system/docs.ts';

const pages = await docPages();

it.each([
  ['what is promised', 'promises'],
  ['what differs from a real gateway', 'fidelity'],
  ['how do I make it fail', 'faults'],
  ['where is my data', 'state'],
  ['how do I test without a browser?', 'without-a-browser'],
  ['how do I run it in CI', 'ci'],
  ['in a container', 'containers'],
  ['docker', 'containers'],
  ['with HTTPS', 'tls-and-proxy'],
  ['client whose host is fixed', 'tls-and-proxy'],
  ['how do I sign', 'receive-and-verify'],
  ['what does the IPN hold', 'receive-and-verify'],
  ['signature', 'receive-and-verify'],
  ['webhooks', 'receive-and-verify'],
  ['guarantees', 'promises'],
  ['401', 'troubleshooting'],
  ['how do I reset the state', 'state'],
])('the answer to "%s" is on the page %s', (question, topic) => {
  expect(searchDocs(pages, question)[0]).toMatchObject({ topic });
});

it.each(['flask --app', 'signature', '401', 'docker compose', 'express'])(
  'finds %s in the pages',
  (words) => {
    const [found] = searchDocs(pages, words);
    const page = pages.find(({ file }) => file === found?.file);
    expect(page?.topic).toBe(found?.topic);
    for (const word of words.split(' ')) expect(page?.text.toLowerCase()).toContain(word);
  },
);

it('finds nothing for a word that no page has', () => {
  expect(searchDocs(pages, 'xyzzy')).toEqual([]);
});
