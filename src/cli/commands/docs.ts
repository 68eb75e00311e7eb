import { writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { didYouMean, GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { controlServer } from '../../library/control-client.ts';
import { resolveOptions } from '../../options/resolve.ts';
import { docPages } from '../../system/docs.ts';
import { defineCommand, text } from '../command.ts';
import { addressOf, DEFAULT_URL } from '../connect.ts';
import { table } from '../output.ts';
import { orStorageFailed, shownFrom } from '../write-file.ts';

export const docs = defineCommand({
  args: ['[topic]'],
  summary: 'list the documentation topics, or print one page',
  examples: ['docs', 'docs ci'],
  run: async ({ args: [asked] }) => {
    const pages = await docPages();
    if (asked === undefined) {
      const topics = pages.map(({ topic, title }) => ({ topic, title }));
      return {
        json: { data: topics },
        text: table({ Topic: ({ topic }) => topic, Page: ({ title }) => title }, topics),
        notices: [hint`Print a page with: ${command('docs', '<topic>')}`],
      };
    }
    const page = pages.find(({ topic }) => topic === basename(asked, '.md').toLowerCase());
    if (page) {
      const { topic, title, text } = page;
      return { json: { topic, title, text }, text: text.trimEnd() };
    }
    const topics = pages.map(({ topic }) => topic);
    throw new GatewayError('not_found', `there is no page "${asked}"${didYouMean(asked, topics)}`, {
      hint: hint`List the pages with: ${command('docs')}`,
    });
  },
});

/** The document of `/_sim/openapi.json`, read from a temporary emulator, so that none needs to run. */
export const openapi = defineCommand({
  summary: 'print the OpenAPI document of the service and the control API',
  options: {
    out: text('file', 'write the document to this file'),
    url: text('url', 'server address in the document (default: http://127.0.0.1:4477)'),
  },
  examples: ['openapi --out openapi.json'],
  run: async ({ options, choice, io, output }) => {
    const publicUrl = addressOf(choice.url ?? DEFAULT_URL).replace(/\/+$/, '');
    const values = { port: 0, inMemory: true, publicUrl };
    const { startEmulator } = await import('../start-emulator.ts');
    const server = await startEmulator(resolveOptions([{ values, label: () => '--url' }]), output);
    const document = await controlServer({ url: server.url }).call('GET /openapi.json').finally(server.stop);
    const text = JSON.stringify(document, null, 2);
    if (options.out === undefined) return { json: document, text };
    const path = resolve(io.cwd, options.out);
    const shown = shownFrom(io.cwd, path);
    await orStorageFailed(writeFile(path, `${text}\n`), shown);
    return { json: { file: path }, text: `wrote ${shown}` };
  },
});
