import { basename } from 'node:path';
import { command, didYouMean, GatewayError, hint } from '../../contract/error.ts';
import { docPages } from '../../system/docs.ts';
import { defineCommand } from '../command.ts';
import { table } from '../output.ts';

export const docs = defineCommand({
  args: ['[topic]'],
  summary: 'list the documentation topics, or print one page',
  json: '`data` (a list of `topic`, `title`); with a topic `topic`, `title`, `text`',
  examples: ['docs', 'docs ci'],
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
    const topics = pages.map(({ topic }) => topic);
    throw new GatewayError('not_found', `there is no page "${requested}"${didYouMean(requested, topics)}`, {
      hint: hint`List the pages with: ${command('docs')}`,
    });
  },
});
