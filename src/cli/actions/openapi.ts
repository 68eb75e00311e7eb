import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { VERSION } from '../../system/package-info.ts';
import type { CallOf } from '../command.ts';
import type { COMMANDS } from '../commands/openapi.ts';
import { addressOf, DEFAULT_URL } from '../connect.ts';
import type { CommandResult } from '../output.ts';
import { orStorageFailed, shownFrom } from '../storage-failed.ts';

/** The document of `/_sim/openapi.json`, made here: no emulator needs to run. */
export async function openapi({
  options: { out },
  choice,
  io,
}: CallOf<typeof COMMANDS.openapi>): Promise<CommandResult> {
  const url = addressOf(choice.url ?? DEFAULT_URL);
  const { openApiDocument } = await import('../../http/openapi.ts');
  const document = openApiDocument({ version: VERSION, baseUrl: () => url.replace(/\/+$/, '') });
  const text = JSON.stringify(document, null, 2);
  if (out === undefined) return { json: document, text };
  const path = resolve(io.cwd, out);
  const shown = shownFrom(io.cwd, path);
  await orStorageFailed(writeFile(path, `${text}\n`), shown);
  return { json: { file: path }, text: `wrote ${shown}` };
}
