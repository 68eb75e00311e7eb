import { GatewayError, usage } from '../contract/error.ts';
import { runProcess } from '../system/run-process.ts';

/** Maximum time that a program may take. */
export const LIMIT_MS = 5_000;
/** In characters. */
const MAX_OUTPUT = 64 * 2 ** 20;

/** A client of a database, or a command of the user. */
interface ClientToRun {
  /** Names of the program, of which the first that is installed is run; or a command line. */
  files: readonly string[];
  /** Undefined: it is a command line. */
  args?: readonly string[];
  /** The package that has the program. */
  packageName?: string;
  /** Environment variables, in addition to those of this process. */
  env?: Readonly<Record<string, string>>;
  input?: string;
}

/** The error for a database that cannot be read. @param why without a full stop */
export const unreadable = (why: string, cause?: unknown) =>
  new GatewayError('check_failed', `the database cannot be read: ${why}`, { cause });

/**
 * What a client, or a command of the user, prints.
 *
 * @throws GatewayError `check_failed` if it fails, takes too long or prints too much; `usage` if it is not installed
 */
export async function printedBy(client: ClientToRun): Promise<string> {
  const { files, packageName, env = {}, ...process } = client;
  const limits = { limitMs: LIMIT_MS, maxOutput: MAX_OUTPUT };
  for (const file of files) {
    const { stdout, stderr, isCut, isMissing, problem } = await runProcess({
      ...process,
      file,
      env,
      ...limits,
    });
    if (isMissing && packageName !== undefined) continue;
    if (isCut)
      throw unreadable(
        `${file} prints more than 64 MiB. Leave tables out with dbSkip (--db-skip of audit and reconcile)`,
      );
    if (problem === undefined) return stdout;
    const [said = ''] = stderr.trim().split('\n');
    throw unreadable(`${file} ${problem}${said && `: ${said.slice(0, 200)}`}`);
  }
  throw usage(
    `the database cannot be read: ${files.join(' or ')} is not installed. Install the package ${packageName}`,
  );
}
