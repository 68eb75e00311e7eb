import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { GatewayError } from '../../contract/error.ts';
import { command, hint, option } from '../../contract/hint.ts';
import { noServer, type TypedResponse } from '../../library/control-client.ts';
import { DataFolder, isDataFolder } from '../../store/folder.ts';
import { DEFAULT_DATA_DIR, readServerInfo } from '../../store/server-file.ts';
import { confirm } from '../confirm.ts';
import { connect, type Server, type ServerChoice } from '../connect.ts';
import type { CommandResult } from '../output.ts';
import { requireEmulator } from '../probe.ts';
import type { CommandContext } from '../program.ts';
import { replaceFile } from '../write-state-file.ts';

/** `gateway-sim state reset`: by the running emulator, or, where none runs, on the data folder itself. */
export async function resetState(call: CommandContext): Promise<CommandResult> {
  const choice = call.options as ServerChoice;
  const folder = choice.url === undefined ? await folderOf(choice) : undefined;
  if (folder === undefined) return resetByServer(await serverToChange(choice), call);
  if (!(await readServerInfo(folder))) return resetFolder(folder, call);
  try {
    return await resetByServer(await serverToChange({ ...choice, dataDir: folder }), call);
  } catch (error) {
    // What server.json tells of is not there: the lock of the folder shows whether somebody has it.
    if (error instanceof GatewayError && error.code === 'no_server') return resetFolder(folder, call);
    throw error;
  }
}

/**
 * The data folder that was named, or the one of this very folder: what is stored here is meant before what runs above.
 *
 * @throws GatewayError `not_found` when the one that was named is none
 */
async function folderOf({ dataDir }: ServerChoice): Promise<string | undefined> {
  const folder = dataDir ?? DEFAULT_DATA_DIR;
  if (await isDataFolder(folder)) return folder;
  if (dataDir === undefined) return undefined;
  throw new GatewayError('not_found', `${dataDir} is no data folder of gateway-sim: it was left alone`, {
    hint: hint`Name the folder that holds db.json with ${option('dataDir')}.`,
  });
}

/** Never one that was neither named nor found: what these commands do cannot be undone. */
async function serverToChange(choice: ServerChoice): Promise<Server> {
  const server = await connect(choice, { guess: false });
  await requireEmulator(server.url);
  return server;
}

async function resetByServer(server: Server, { options }: CommandContext): Promise<CommandResult> {
  await confirm(`Reset the emulator at ${server.url}? Its payments, cards and IPNs are gone then.`, options);
  const { counts } = await server.ask(server.client.reset.$post());
  return {
    json: { reset: true, url: server.url, counts },
    text: `Reset ${server.url}: ${shownCounts(counts)}. Merchants kept their keys.`,
  };
}

async function resetFolder(path: string, { options }: CommandContext): Promise<CommandResult> {
  await confirm(`Put the state in ${path} aside, keys included, and begin anew?`, options);
  const folder = await DataFolder.take(path);
  let backup: string | null;
  try {
    backup = await folder.setStateAside(new Date());
  } finally {
    await folder.release();
  }
  const text = backup
    ? `No emulator runs. The state, keys included, was moved to ${relative('', backup)}; the next start makes a new one.`
    : `No emulator runs, and ${path} holds no state: the next start makes one.`;
  return { json: { reset: true, dataDir: folder.path, backup }, text };
}

/** `gateway-sim state export` */
export async function exportState({
  args: [file = '-'],
  options,
  output,
}: CommandContext): Promise<CommandResult | undefined> {
  const server = await connect(options as ServerChoice);
  const response = await server.client.snapshot.$get().catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  if (!response.ok) await server.ask(Promise.resolve(response as TypedResponse<unknown>));
  // As text: the layout, one record a line, is worth keeping.
  const text = await response.text().catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  const counts = countsIn(text);
  if (!counts) throw noServer(server.url);
  if (file === '-') {
    output.line(text.trimEnd());
    return undefined;
  }
  const path = await replaceFile(file, text, { force: options['force'] === true });
  return {
    json: { file: path, counts },
    text: `Wrote ${relative('', path) || path}: ${shownCounts(counts)}`,
    notices: ["It holds the merchants' keys."],
  };
}

/** How many records of each kind a state holds; undefined for what is no state. */
function countsIn(text: string): Record<string, number> | undefined {
  try {
    const state = JSON.parse(text) as Record<string, unknown>;
    if (typeof state['version'] !== 'number') return undefined;
    const lists = Object.entries(state).filter(([, records]) => Array.isArray(records));
    return Object.fromEntries(lists.map(([name, records]) => [name, (records as unknown[]).length]));
  } catch {
    return undefined;
  }
}

function shownCounts(counts: Readonly<Record<string, number>>): string {
  return ['payment', 'card', 'merchant', 'wallet']
    .map((name) => ({ name, count: counts[`${name}s`] ?? 0 }))
    .map(({ name, count }) => `${count} ${name}${count === 1 ? '' : 's'}`)
    .join(', ');
}

/** `gateway-sim state import`: all or nothing; the emulator migrates an older state and refuses a newer one. */
export async function importState({ args: [file = '-'], options }: CommandContext): Promise<CommandResult> {
  const name = file === '-' ? 'stdin' : file;
  const json = parsed(await textOf(file), name);
  const server = await serverToChange(options as ServerChoice);
  const question = `Put ${name} in the place of the state at ${server.url}?`;
  // Where the state comes by stdin nobody can answer there.
  if (file !== '-') await confirm(question, options);
  const { counts } = await server.ask(server.client.snapshot.$put({ json }));
  return {
    json: { imported: true, url: server.url, counts },
    text: `Imported ${name}: ${shownCounts(counts)}`,
    notices: ['The keys are those of the imported merchants now: gateway-sim keys env'],
  };
}

async function textOf(file: string): Promise<string> {
  if (file === '-') {
    let text = '';
    for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
    return text;
  }
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const missing = code === 'ENOENT';
    throw new GatewayError(
      'not_found',
      `${file} ${missing ? 'does not exist' : `cannot be read: ${message}`}`,
      {
        cause: error,
      },
    );
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
