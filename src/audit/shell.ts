import { spawn } from 'node:child_process';
import { GatewayError } from '../contract/error.ts';

/** What a command of the user may take, in real time. */
const LIMIT_MS = 30_000;
const MAX_OUTPUT = 2 ** 20;
const ESRCH = 'ESRCH';

/**
 * Runs a command line of the user in a shell.
 *
 * @param environment variables beside ours
 * @param limitMs for its end, in real time
 * @returns what it printed on stdout
 * @throws GatewayError `check_failed` when it fails, hangs or cannot be run
 */
export function runShell(
  line: string,
  environment: Readonly<Record<string, string>>,
  limitMs = LIMIT_MS,
): Promise<string> {
  const ownGroup = process.platform !== 'win32';
  const child = spawn(line, {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
    detached: ownGroup,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (stdout.length < MAX_OUTPUT) stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_OUTPUT) stderr += text;
  });
  return new Promise((resolve, reject) => {
    const failed = (why: string) => {
      const said = stderr.trim().split('\n').at(-1);
      return new GatewayError('check_failed', `\`${line}\` ${why}${said ? `: ${said.slice(0, 200)}` : ''}`);
    };
    const timer = setTimeout(() => {
      reject(failed(`did not end within ${limitMs / 1_000} s`));
      endGroup(child.pid, ownGroup);
    }, limitMs);
    child.on('error', ({ message }) => reject(failed(`cannot be run: ${message}`)));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(stdout);
      else reject(failed(signal ? `was ended by ${signal}` : `exited with ${code}`));
    });
  });
}

function endGroup(pid: number | undefined, ownGroup: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(ownGroup ? -pid : pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== ESRCH) throw error;
  }
}

/** What a function of the user returns. @throws GatewayError `check_failed` when it throws */
export async function ofTheUser(what: string, run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    const { message = String(error) } = error as Partial<Error>;
    throw new GatewayError('check_failed', `${what} failed: ${message}`, { cause: error });
  }
}
