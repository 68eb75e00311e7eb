import { basename } from 'node:path';
import { command, didYouMean, GatewayError, hint } from '../../contract/error.ts';
import { docPages } from '../../system/docs.ts';
import { defineCommand } from '../command.ts';
import { table } from '../output.ts';

export const docs = defineCommand({
  args: ['[topic]'],
  summary: 'list the documentation topics, print one page, or search all pages for a word',
  json: '`data` (a list of `topic`, `title`); with a topic `topic`, `title`, `text`; with another word `data` (a list of `topic`, `heading`)',
  examples: ['docs', 'docs ci', 'docs express'],
  run: async ({ args: [requested] }) => {
    const pages = await docPages();
    if (requested === undefined) {
      const topics = pages.map(({ topic, title }) => ({ topic, title }));
      return {
        json: { data: topics },
        text: table({ Topic: ({ topic }) => topic, Page: ({ title }) => title }, topics),
        notices: [hint`Print a page with: ${command('docs', '<topic>')}`],
      };
    }
    const page = pages.find(({ topic }) => topic === basename(requested, '.md').toLowerCase());
    if (page) {
      const { topic, title, text } = page;
      return { json: { topic, title, text }, text: text.trimEnd() };
    }
    const found = search(pages, requested);
    if (found.length) {
      return {
        json: { data: found },
        text: table({ Topic: ({ topic }) => topic, Heading: ({ heading }) => heading }, found),
        notices: [hint`Print a page with: ${command('docs', '<topic>')}`],
      };
    }
    const topics = pages.map(({ topic }) => topic);
    throw new GatewayError('not_found', `there is no page "${requested}"${didYouMean(requested, topics)}`, {
      hint: hint`List the pages with: ${command('docs')}`,
    });
  },
});

const MAX_FOUND = 20;

/** The headings over which, or below which, a word stands: headings with the word first, reference pages last. */
function search(pages: Awaited<ReturnType<typeof docPages>>, word: string) {
  const wanted = word.toLowerCase();
  const sections = pages.flatMap(({ topic, file, text }) =>
    text
      .split(/^(?=#{1,4} )/m)
      .filter((section) => section.toLowerCase().includes(wanted))
      .map((section) => {
        const [heading = ''] = section.replace(/^#+ /, '').split('\n');
        const rank =
          Number(file.startsWith('reference/')) * 2 + Number(!heading.toLowerCase().includes(wanted));
        return { topic, heading, rank };
      }),
  );
  return sections
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MAX_FOUND)
    .map(({ topic, heading }) => ({ topic, heading }));
}
