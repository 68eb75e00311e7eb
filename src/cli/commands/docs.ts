import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { didYouMean, GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { packaged } from '../../system/package-info.ts';
import { defineCommand } from '../command.ts';
import { table } from '../layout.ts';

export const docs = defineCommand({
  args: ['[topic]'],
  summary: 'list the documentation topics, or print one page',
  examples: ['docs', 'docs ci'],
  run: async ({ args: [asked] }) => {
    const pages = await pagesOf(packaged('src/docs'));
    if (asked === undefined) {
      const topics = pages.map(({ topic, title }) => ({ topic, title }));
      return {
        json: { data: topics },
        text: table({ Topic: ({ topic }) => topic, Page: ({ title }) => title }, topics),
        notices: [hint`Print a page with: ${command('docs', '<topic>')}`],
      };
    }
    const page = pages.find(({ topic }) => topic === basename(asked, '.md').toLowerCase());
    if (page) return { json: page, text: page.text.trimEnd() };
    const topics = pages.map(({ topic }) => topic);
    throw new GatewayError('not_found', `there is no page "${asked}"${didYouMean(asked, topics)}`, {
      hint: hint`List the pages with: ${command('docs')}`,
    });
  },
});

async function pagesOf(folder: string) {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.md')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8');
      return { topic: basename(file, '.md'), title: /^# (.+)$/m.exec(text)?.[1] ?? '', text };
    }),
  );
}
