import { basename } from 'node:path';
import { command, didYouMean, GatewayError, hint } from '../../contract/error.ts';
import { docPages, searchDocs } from '../../system/docs.ts';
import { defineCommand } from '../command.ts';
import { table } from '../output.ts';
import { flowing, wrapped } from '../printed.ts';

export const docs = defineCommand({
  args: ['[topic...]'],
  summary: 'list the pages of the documentation, print one, or find words in all of them',
  examples: ['docs', 'docs express', 'docs reset state'],
  run: async ({ args, io }) => {
    const pages = await docPages();
    const requested = args.flat().join(' ');
    if (requested === '') {
      const topics = pages.map(({ topic, title, group }) => ({ topic, title, group }));
      const width = Math.max(...topics.map(({ topic }) => topic.length));
      const groups = [...new Set(topics.map(({ group }) => group))].map((group) => [
        group,
        ...topics
          .filter((one) => one.group === group)
          .map(({ topic, title }) => `  ${topic.padEnd(width)}  ${title}`),
      ]);
      return {
        json: { data: topics },
        text: groups.map((lines) => lines.join('\n')).join('\n\n'),
        notices: [hint`Print a page, or find words in all, with: ${command('docs', '<topic or words>')}`],
      };
    }
    const page = pages.find(({ topic }) => topic === basename(requested, '.md').toLowerCase());
    if (page) {
      const { topic, title, text } = page;
      // Elsewhere, the page may become a file.
      const shown = io.stdout.isTTY ? inLines(text.replace(/^<!--.*-->\n+/gm, '')) : text;
      return { json: { topic, title, text }, text: shown.trimEnd() };
    }
    const found = searchDocs(pages, requested).map(({ topic, heading }) => ({ topic, heading }));
    if (found.length) {
      return {
        json: { data: found },
        text: flowing(table({ Topic: ({ topic }) => topic, Heading: ({ heading }) => heading }, found)),
        notices: [hint`Print a page with: ${command('docs', '<topic>')}`],
      };
    }
    const topics = pages.map(({ topic }) => topic);
    throw new GatewayError('not_found', `no page has "${requested}"${didYouMean(requested, topics)}`, {
      hint: hint`List the pages with: ${command('docs')}`,
    });
  },
});

/** A page with its paragraphs and lists in lines of the terminal. Code, tables and headings stay as they are. */
function inLines(page: string): string {
  return page
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part.replace(/^(?![|#])(\s*(?:- |\d+\. |> )?).+$/gm, (line, start: string) =>
            wrapped(line, ' '.repeat(start.length)),
          ),
    )
    .join('');
}
