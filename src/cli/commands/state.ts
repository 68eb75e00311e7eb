import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { GatewayError } from '../../contract/error.ts';
import { command, hint, option } from '../../contract/hint.ts';
import { readText } from '../../delivery/sender.ts';
import { noServer, unlikeGatewaySim } from '../../library/control-client.ts';
import { MAX_STATE_BYTES } from '../../library/request.ts';
import { DataFolder, isDataFolder } from '../../store/folder.ts';
import { DEFAULT_DATA_DIR, readServerInfo } from '../../store/server-file.ts';
import { type Context, defineCommand, flag, type GivenValues, type Group } from '../command.ts';
import type { Server } from '../connect.ts';
import { confirm, type Io } from '../io.ts';
import type { CommandResult } from '../output.ts';
import { orStopped } from '../stopped-folder.ts';
import { replaceFile } from '../write-file.ts';

const YES = { yes: flag('do not ask (without a terminal it never asks)') };

type ResetContext = Context & { options: GivenValues<typeof YES> };

/** Resets by the running emulator, or, where none runs, on the data folder itself. */
const reset = defineCommand({
  summary: 'reset to the fixtures; merchants keep their keys',
  neverGuess: true,
  options: YES,
  about:
    '\nWhere no emulator runs, the state of the data folder is put aside, in a folder inside it, and the next start\nmakes a new one. This also helps when the state is damaged.',
  examples: ['state reset', 'state reset --yes --data-dir .gateway-sim'],
  run: async (context) => {
    const { choice, io } = context;
    const folder = choice.url === undefined ? await folderOf(choice.dataDir, io) : undefined;
    if (folder === undefined) return resetByServer(await context.connect(), context);
    const isNamed = choice.dataDir !== undefined;
    if (!(await readServerInfo(resolve(io.cwd, folder)))) return resetFolder(folder, isNamed, context);
    try {
      return await resetByServer(await context.connect(folder), context);
    } catch (error) {
      // What server.json names is not there: the lock of the folder shows whether another process has it.
      if (error instanceof GatewayError && error.code === 'no_server')
        return resetFolder(folder, isNamed, context);
      throw error;
    }
  },
});

/**
 * The data folder that was named, or the one of this very folder: what is stored here is meant before what runs above.
 *
 * @throws GatewayError `not_found` when the one that was named is none
 */
async function folderOf(dataDir: string | undefined, { cwd }: Io): Promise<string | undefined> {
  const folder = dataDir ?? DEFAULT_DATA_DIR;
  if (await isDataFolder(resolve(cwd, folder))) return folder;
  if (dataDir === undefined) return undefined;
  throw new GatewayError('not_found', `${dataDir} is no data folder of gateway-sim: it was left alone`, {
    hint: hint`Name the folder that holds db.json with ${option('dataDir')}.`,
  });
}

async function resetByServer(server: Server, context: ResetContext): Promise<CommandResult> {
  await confirm(`Reset the emulator at ${server.url}? Its payments, cards and IPNs are gone then.`, context);
  const { counts } = await server.call('POST /reset');
  return {
    json: { reset: true, url: server.url, counts },
    text: `Reset ${server.url}: ${describeCounts(counts)}. Merchants kept their keys.`,
  };
}

async function resetFolder(path: string, isNamed: boolean, context: ResetContext): Promise<CommandResult> {
  const { cwd } = context.io;
  await confirm(`Put the state in ${path} aside, keys included, and begin anew?`, context);
  const folder = await DataFolder.acquire(resolve(cwd, path), { isNamed });
  const backup = await folder.backUpState(new Date()).finally(() => folder.release());
  const text = backup
    ? `No emulator runs. The state, keys included, was moved to ${relative(cwd, backup)}; the next start makes a new one.`
    : `No emulator runs, and ${path} holds no state: the next start makes one.`;
  return { json: { reset: true, dataDir: folder.path, backup }, text };
}

/** By the running emulator, or, where none runs, of the data folder itself. */
const exportState = defineCommand({
  args: ['<file>'],
  summary: 'write the whole state to a file; - is stdout',
  options: { force: flag('write over a file that is no state') },
  about: '\nWhere no emulator runs, it is what the data folder holds.',
  examples: ['state export paid-orders.json', 'state export - >paid-orders.json'],
  run: async (context) => {
    const { args, options, output, choice, io } = context;
    const [file] = args;
    const { cwd } = io;
    const { text, counts, from } = await orStopped(
      async () => exportByServer(await context.connect()),
      async ({ shown, snapshot }) => {
        const { snapshotText } = await import('../../store/snapshot-lines.ts');
        const text = [...snapshotText(snapshot)].join('');
        return { text, counts: countsIn(text) ?? {}, from: ` from ${shown}, where no emulator runs` };
      },
      { choice, cwd },
    );
    if (file === '-') {
      output.line(text.trimEnd());
      return undefined;
    }
    const path = await replaceFile(file, text, { force: options.force === true, cwd });
    return {
      json: { file: path, counts },
      text: `Wrote ${relative(cwd, path) || path}${from}: ${describeCounts(counts)}`,
      notices: ["It holds the merchants' keys."],
    };
  },
});

async function exportByServer(server: Server) {
  const answer = await server.open('GET /snapshot');
  // As text: the layout, one record a line, is worth keeping.
  const text = await readText(answer, MAX_STATE_BYTES).catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  const counts = countsIn(text);
  if (!counts) throw unlikeGatewaySim(server.url);
  return { text, counts, from: '' };
}

/** How many records of each kind a state holds; undefined for what is no state. */
function countsIn(text: string): Record<string, number> | undefined {
  try {
    const state = JSON.parse(text) as Record<string, unknown>;
    if (typeof state['version'] !== 'number') return undefined;
    return Object.fromEntries(
      Object.entries(state).flatMap(([name, records]) =>
        Array.isArray(records) ? [[name, records.length]] : [],
      ),
    );
  } catch {
    return undefined;
  }
}

function describeCounts(counts: Readonly<Record<string, number>>): string {
  return ['payment', 'card', 'merchant', 'wallet']
    .map((name) => ({ name, count: counts[`${name}s`] ?? 0 }))
    .map(({ name, count }) => `${count} ${name}${count === 1 ? '' : 's'}`)
    .join(', ');
}

/** All or nothing; the emulator migrates an older state and rejects a newer one. */
const importState = defineCommand({
  args: ['<file>'],
  summary: 'replace the present state with that of a file; - is stdin',
  neverGuess: true,
  options: YES,
  examples: ['state import paid-orders.json'],
  run: async ({ args: [file], options, connect, io }) => {
    const name = file === '-' ? 'stdin' : file;
    const json = parsed(await textOf(file, io), name);
    const server = await connect();
    // Where the state comes by stdin nobody can answer there.
    if (file !== '-')
      await confirm(`Put ${name} in the place of the state at ${server.url}?`, { options, io });
    const { counts } = await server.call('PUT /snapshot', { json });
    return {
      json: { imported: true, url: server.url, counts },
      text: `Imported ${name}: ${describeCounts(counts)}`,
      notices: [hint`The keys are those of the imported merchants now: ${command('keys env')}`],
    };
  },
});

async function textOf(file: string, { stdin, cwd }: Io): Promise<string> {
  if (file === '-') return readAll(stdin);
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}`;
    throw new GatewayError('not_found', `${file} ${problem}`, { cause: error });
  }
}

function parsed(text: string, name: string): { version: number } {
  try {
    // Whether it is a state is for the emulator to say.
    return JSON.parse(text.replace(/^\uFEFF/, '')) as { version: number };
  } catch (error) {
    throw new GatewayError('unparseable_body', `${name} is not JSON: ${(error as Error).message}`, {
      hint: hint`Nothing was changed. ${command('state export')} writes a state that can be imported.`,
      cause: error,
    });
  }
}

export const state: Group = {
  summary: 'the whole state: reset, out and in',
  examples: ['state export paid-orders.json', 'state reset'],
  commands: { reset, export: exportState, import: importState },
};
