import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DEFAULT_URL } from '../../contract/address.ts';
import { controlServer } from '../../library/control-client.ts';
import { resolveOptions } from '../../options/resolve.ts';
import { defineCommand, text } from '../command.ts';
import { addressOf } from '../connect.ts';
import { orStorageFailed, shownFrom } from '../write-file.ts';

/** The document of `/_sim/openapi.json`, read from a temporary emulator, so that none needs to run. */
export const openapi = defineCommand({
  summary: 'print the OpenAPI document of the service and the control API',
  options: {
    out: text('file', 'write the document to this file'),
    url: text('url', `server address in the document (default: ${DEFAULT_URL})`),
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
