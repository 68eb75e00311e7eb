import { relative, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { command, GatewayError, hint, option } from '../../contract/error.ts';
import { pluralize } from '../../contract/text.ts';
import { readText } from '../../delivery/sender.ts';
import { MAX_STATE_BYTES, noServer, unlikeGatewaySim } from '../../library/control-client.ts';
import { DataFolder, isDataFolder } from '../../store/folder.ts';
import { DEFAULT_DATA_DIR, readServerInfo } from '../../store/server-file.ts';
import { readBytes } from '../../system/files.ts';
import { type Context, defineCommand, flag, type GivenValues, type Group } from '../command.ts';
import { isNoServer, orStopped, type Server } from '../connect.ts';
import type { Io } from '../io.ts';
import type { CommandResult } from '../output.ts';
import { replaceFile } from '../write-file.ts';

const YES = { yes: flag('skip the confirmation (not asked without a terminal)') };

type ResetContext = Context & { options: GivenValues<typeof YES> };

/** Asks for confirmation before an irreversible change, but only on a terminal and without --yes. */
async function confirm(
  question: string,
  { options, io }: Pick<ResetContext, 'options' | 'io'>,
): Promise<void> {
  if (options.yes || !io.stdin.isTTY) return;
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: io.stdin, output: io.stderr });
  try {
    // Ctrl-C and Ctrl-D close it without an answer.
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new GatewayError('check_failed', 'nothing was changed');
  } finally {
    terminal.close();
  }
}

/** Resets the running emulator, or the data folder if none is running. */
const reset = defineCommand({
  summary: 'reset the state to the fixtures; merchants keep their keys',
  options: YES,
  about:
    '\nIf no emulator is running, the state is moved to a backup folder inside the data folder, and the next start creates\na new one. Use this to recover from a damaged state.',
  examples: ['state reset', 'state reset --yes --data-dir .gateway-sim'],
  run: async (context) => {
    const { choice, connect, io } = context;
    const named = choice.dataDir ?? DEFAULT_DATA_DIR;
    const path = resolve(io.cwd, named);
    // A folder takes precedence over an emulator of a parent folder.
    const isFolder = choice.url === undefined && (await isDataFolder(path));
    if (!isFolder && choice.url === undefined && choice.dataDir !== undefined) {
      throw new GatewayError(
        'not_found',
        `${named} is not a data folder of gateway-sim, so it was not changed`,
        { hint: hint`Use ${option('dataDir')} with the folder that contains db.json.` },
      );
    }
    if (!isFolder || (await readServerInfo(path))) {
      try {
        return await resetByServer(await connect(isFolder ? named : undefined), context);
      } catch (error) {
        // server.json is stale. The lock of the folder shows whether another process uses it.
        if (!isFolder || !isNoServer(error)) throw error;
      }
    }
    await confirm(`Move the state in ${named}, including keys, to a backup and start over?`, context);
    const folder = await DataFolder.acquire(path, {
      isNamed: choice.dataDir !== undefined,
      warn: (text) => context.output.notice(`gateway-sim: ${text}`),
    });
    const backup = await folder.backUpState(new Date()).finally(() => folder.release());
    const text = backup
      ? `No emulator is running. Moved the state, including keys, to ${relative(io.cwd, backup)}. The next start creates a new one.`
      : `No emulator is running, and ${named} has no state. The next start creates one.`;
    return { json: { reset: true, dataDir: folder.path, backup }, text };
  },
});

async function resetByServer(server: Server, context: ResetContext): Promise<CommandResult> {
  await confirm(`Reset the emulator at ${server.url}? This deletes its payments, cards and IPNs.`, context);
  const { counts } = await server.call('POST /reset');
  return {
    json: { reset: true, url: server.url, counts },
    text: `Reset ${server.url}: ${describeCounts(counts)}. Merchants kept their keys.`,
  };
}

/** Exports the state of the running emulator, or of the data folder if none is running. */
const exportState = defineCommand({
  args: ['<file>'],
  summary: 'export the whole state to a file, or to stdout with -',
  options: { force: flag('overwrite a file even if it is not a state file') },
  about: '\nIf no emulator is running, this exports the state in the data folder.',
  examples: ['state export paid-orders.json', 'state export - >paid-orders.json'],
  run: async (context) => {
    const { args, options, output, connect, io } = context;
    const [file] = args;
    const { cwd } = io;
    const { text, counts, from } = await orStopped(
      context,
      async () => exportByServer(await connect()),
      async ({ shown, snapshot }) => {
        const { snapshotText } = await import('../../store/snapshot-file.ts');
        const text = [...snapshotText(snapshot)].join('');
        return { text, counts: countsIn(text) ?? {}, from: ` from ${shown} (no emulator is running)` };
      },
    );
    if (file === '-') {
      output.document(text.trimEnd());
      return undefined;
    }
    const path = await replaceFile(file, text, { force: options.force === true, cwd });
    return {
      json: { file: path, counts },
      text: `Wrote ${relative(cwd, path) || path}${from}: ${describeCounts(counts)}`,
      notices: ["The file contains the merchants' keys."],
    };
  },
});

async function exportByServer(server: Server) {
  const answer = await server.open('GET /snapshot');
  // As text, to keep the layout of one record per line.
  const text = await readText(answer, MAX_STATE_BYTES).catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  const counts = countsIn(text);
  if (!counts) throw unlikeGatewaySim(server.url);
  return { text, counts, from: '' };
}

/** The number of records of each kind in a state; undefined if the text is not a state. */
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
    .map(({ name, count }) => pluralize(count, name))
    .join(', ');
}

/** All or nothing; the emulator rejects a state in another format. */
const importState = defineCommand({
  args: ['<file>'],
  summary: 'replace the state with one from a file, or from stdin with -',
  options: YES,
  examples: ['state import paid-orders.json'],
  run: async ({ args: [file], options, connect, io }) => {
    const name = file === '-' ? 'stdin' : file;
    const json = parsed(await textOf(file, io), name);
    const server = await connect();
    // If stdin is the state, the user cannot answer there.
    if (file !== '-') await confirm(`Replace the state at ${server.url} with ${name}?`, { options, io });
    const { counts } = await server.call('PUT /snapshot', { json });
    return {
      json: { imported: true, url: server.url, counts },
      text: `Imported ${name}: ${describeCounts(counts)}`,
      notices: [hint`The imported merchants' keys are now in use: ${command('keys env')}`],
    };
  },
});

async function textOf(file: string, { stdin, cwd }: Io): Promise<string> {
  if (file === '-') return readAll(stdin);
  try {
    const bytes = await readBytes(resolve(cwd, file), { follows: true, maxBytes: MAX_STATE_BYTES });
    return bytes.toString();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}`;
    throw new GatewayError('not_found', `${file} ${problem}`, { cause: error });
  }
}

function parsed(text: string, name: string): { version: number } {
  try {
    // The emulator checks whether it is a state.
    return JSON.parse(text.replace(/^\uFEFF/, '')) as { version: number };
  } catch (error) {
    throw new GatewayError('unparseable_body', `${name} is not JSON: ${(error as Error).message}`, {
      hint: hint`Nothing was changed. Write a state that can be imported with: ${command('state export')}`,
      cause: error,
    });
  }
}

export const state: Group = {
  summary: 'reset, export or import all state',
  examples: ['state export paid-orders.json', 'state reset'],
  commands: { reset, export: exportState, import: importState },
};
