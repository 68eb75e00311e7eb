import { GatewayError, usage } from '../contract/error.ts';
import { OpenProcess } from '../system/open-process.ts';
import { runProcess } from '../system/run-process.ts';
import { type Ask, type DatabaseClient, END } from './client.ts';

/** Maximum time that a program may take. */
export const LIMIT_MS = 5_000;
/** In characters. */
const MAX_OUTPUT = 64 * 2 ** 20;

const LIMITS = { limitMs: LIMIT_MS, maxOutput: MAX_OUTPUT };

/** The error for a database that cannot be read. @param why without a full stop */
export const unreadable = (why: string, cause?: unknown) =>
  new GatewayError('check_failed', `the database cannot be read: ${why}`, { cause });

const tooMuch = (file: string) =>
  unreadable(
    `${file} prints more than 64 MiB. Leave tables out with dbSkip (--db-skip of audit and reconcile)`,
  );

/**
 * What a command of the user prints.
 *
 * @throws GatewayError `check_failed` if it fails, takes too long or prints too much
 */
export async function printedBy(command: string): Promise<string> {
  const { stdout, stderr, isCut, problem } = await runProcess({ line: command, env: {}, ...LIMITS });
  if (isCut) throw tooMuch(command);
  if (problem === undefined) return stdout;
  const [said = ''] = stderr.trim().split('\n');
  throw unreadable(`${command} ${problem}${said && `: ${said.slice(0, 200)}`}`);
}

/** A client that is open. */
export interface Session {
  client: DatabaseClient;
  ask: Ask;
  close: () => Promise<void>;
}

/** Starts a client. @throws GatewayError `check_failed` if it cannot be run, `usage` if it is not installed */
export async function startClient(client: DatabaseClient): Promise<Session> {
  const { files, args, env = {}, packageName } = client;
  for (const file of files) {
    const process = await OpenProcess.open({ file, args, env, ...LIMITS }).catch((error: Error) => {
      throw unreadable(`${file} cannot be run: ${error.message}`, error);
    });
    if (!process) continue;
    const ask = async (statements: string) => {
      const { stdout, isCut, problem } = await process.ask(`${statements}\n${client.echo(END)}\n`, END);
      if (isCut) throw tooMuch(file);
      if (problem !== undefined) throw unreadable(`${file} ${problem}`);
      return stdout;
    };
    return {
      client,
      ask,
      close: async () => {
        process.kill();
        await client.close?.();
      },
    };
  }
  throw usage(
    `the database cannot be read: ${files.join(' or ')} is not installed. Install the package ${packageName}`,
  );
}
