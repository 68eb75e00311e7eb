import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { isLink } from '../../store/files.ts';
import { makeFolder } from '../../store/make-folder.ts';
import { packagedFixtures } from '../../system/package-info.ts';
import { type ActionsOf, type Declarations, flag, group, text } from '../command.ts';
import { CONFIGURATION_FILE, configurationTemplate, FIXTURES_FILE } from '../config-template.ts';
import { orStorageFailed, shownFrom } from '../write-file.ts';

const COMMANDS = {
  init: {
    summary: 'write a commented configuration and fixtures to edit',
    options: {
      dir: text('folder', 'folder to write them to (default: this one)'),
      force: flag('write over files that are there'),
    },
    examples: ['init', 'init --dir test/gateway'],
  },
} as const satisfies Declarations;

type Actions = ActionsOf<typeof COMMANDS>;

/** A commented configuration and fixtures to edit, both or neither. */
const runInit: Actions['init'] = async ({ options, io: { cwd } }) => {
  const folder = resolve(cwd, options.dir ?? '.');
  const files: [path: string, text: string][] = [
    [join(folder, CONFIGURATION_FILE), configurationTemplate(schemaFrom(folder))],
    [join(folder, FIXTURES_FILE), await readFile(packagedFixtures(), 'utf8')],
  ];
  const shown = (path: string) => shownFrom(cwd, path);
  for (const [path] of files) {
    // What is written to it would be written where it leads.
    if (!(await isLink(path))) continue;
    throw new GatewayError('usage', `nothing was written: ${shown(path)} is a link`, {
      hint: hint`Remove the link, or take --dir for another folder.`,
    });
  }
  const existing = files.map(([path]) => path).filter((path) => existsSync(path));
  if (existing.length && !options.force) {
    throw new GatewayError(
      'usage',
      `nothing was written: there is already ${existing.map(shown).join(' and ')}`,
      {
        hint: hint`Take --force to write over what is there, or --dir for another folder.`,
      },
    );
  }
  await orStorageFailed(makeFolder(folder), shown(folder));
  const flag = options.force ? 'w' : 'wx';
  for (const [path, text] of files) await orStorageFailed(writeFile(path, text, { flag }), shown(path));
  const elsewhere = relative(cwd, folder);
  return {
    json: { files: files.map(([path]) => path) },
    text: files.map(([path]) => `wrote ${shown(path)}`).join('\n'),
    notices: [
      `Every option stands in ${CONFIGURATION_FILE}, with its default; ${FIXTURES_FILE} has the merchants and wallets of a new state.`,
      hint`Edit them, then run: ${elsewhere && `cd ${elsewhere} && `}${command('start')}`,
    ],
  };
};

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

export const init = group({ commands: COMMANDS, actions: { init: runInit } });
