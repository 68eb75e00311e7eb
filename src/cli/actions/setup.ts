import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { GatewayError } from '../../contract/error.ts';
import { hint } from '../../contract/hint.ts';
import { packagedFixtures, VERSION } from '../../system/package-info.ts';
import { CONFIGURATION_FILE, FIXTURES_FILE, starterConfiguration } from '../config-template.ts';
import type { CommandResult } from '../output.ts';
import type { CommandContext } from '../program.ts';

/**
 * `gateway-sim init`: a commented configuration and fixtures to edit, both or neither.
 *
 * @throws GatewayError `usage` when one of them exists already and --force was not given
 */
export async function init({ options }: CommandContext): Promise<CommandResult> {
  const folder = resolve(typeof options['dir'] === 'string' ? options['dir'] : '.');
  const files: [path: string, text: string][] = [
    [join(folder, CONFIGURATION_FILE), starterConfiguration(schemaFrom(folder))],
    [join(folder, FIXTURES_FILE), await readFile(packagedFixtures(), 'utf8')],
  ];
  const there = files.filter(([path]) => existsSync(path)).map(([path]) => shown(path));
  if (there.length && options['force'] !== true) {
    throw new GatewayError('usage', `nothing was written: there is already ${there.join(' and ')}`, {
      hint: hint`Take --force to write over what is there, or --dir for another folder.`,
    });
  }
  await written(mkdir(folder, { recursive: true }), folder);
  for (const [path, text] of files) await written(writeFile(path, text), path);
  const elsewhere = relative('', folder);
  return {
    json: { files: files.map(([path]) => path) },
    text: files.map(([path]) => `wrote ${shown(path)}`).join('\n'),
    notices: [
      `Every option stands in ${CONFIGURATION_FILE}, with its default; ${FIXTURES_FILE} has the merchants and wallets of a new state.`,
      `Edit them, then run: ${elsewhere ? `cd ${elsewhere} && ` : ''}gateway-sim start`,
    ],
  };
}

/** The way from a folder to the JSON schema of the installed package, as editors follow it. */
function schemaFrom(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const schema = join(at, 'node_modules', 'gateway-sim', 'fixtures', 'config.schema.json');
    if (existsSync(schema))
      return relative(folder, schema)
        .replaceAll('\\', '/')
        .replace(/^(?!\.)/, './');
    if (at === dirname(at)) return undefined;
  }
}

/** Where a server listens unless it is told otherwise. */
const DEFAULT_URL = 'http://127.0.0.1:4477';

/** `gateway-sim openapi`: the document of `/_sim/openapi.json`, made here: no emulator needs to run. */
export async function openapi({ options }: CommandContext): Promise<CommandResult> {
  const url = typeof options['url'] === 'string' ? options['url'] : DEFAULT_URL;
  if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) {
    throw new GatewayError(
      'usage',
      `--url must be an absolute http address, such as ${DEFAULT_URL} (got "${url}")`,
    );
  }
  const { openApiDocument } = await import('../../http/openapi.ts');
  const document = openApiDocument({ version: VERSION, baseUrl: () => url.replace(/\/+$/, '') });
  const text = JSON.stringify(document, null, 2);
  const { out } = options;
  if (typeof out !== 'string') return { json: document, text };
  const path = resolve(out);
  await written(writeFile(path, `${text}\n`), path);
  return { json: { file: path }, text: `wrote ${shown(path)}` };
}

async function written(writing: Promise<unknown>, path: string): Promise<void> {
  await writing.catch((error: Error) => {
    throw new GatewayError('storage_failed', `${shown(path)} cannot be written: ${error.message}`, {
      cause: error,
    });
  });
}

/** A path as the user would write it here. */
function shown(path: string): string {
  const here = relative('', path);
  return here.startsWith('..') ? path : here || '.';
}
