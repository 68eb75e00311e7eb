import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { controlServer } from '../../library/control-client.ts';
import { resolveOptions } from '../../options/resolve.ts';
import type { Actions } from '../commands/openapi.ts';
import { addressOf, DEFAULT_URL } from '../connect.ts';
import { orStorageFailed, shownFrom } from '../write-file.ts';
import { startEmulator } from './start.ts';

/** The document of `/_sim/openapi.json`, read from an emulator of our own: none needs to run. */
export const openapi: Actions['openapi'] = async ({ options, choice, io, output }) => {
  const publicUrl = addressOf(choice.url ?? DEFAULT_URL).replace(/\/+$/, '');
  const values = { port: 0, inMemory: true, publicUrl };
  const server = await startEmulator(resolveOptions([{ values, label: () => '--url' }]), output);
  const document = await controlServer({ url: server.url }).call('GET /openapi.json').finally(server.stop);
  const text = JSON.stringify(document, null, 2);
  if (options.out === undefined) return { json: document, text };
  const path = resolve(io.cwd, options.out);
  const shown = shownFrom(io.cwd, path);
  await orStorageFailed(writeFile(path, `${text}\n`), shown);
  return { json: { file: path }, text: `wrote ${shown}` };
};
