import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Ready, run, startBinary } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';

export const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const isThere = (command: string) => spawnSync(command, ['--version']).status === 0;

export const LANGUAGES = ['node', 'python', 'php'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Why the shop of a language cannot be run here; undefined when it can. */
export function missing(language: Language): string | undefined {
  const command = { node: process.execPath, python: 'python3', php: 'php' }[language];
  return isThere(command) ? undefined : `no ${command} here`;
}

/** What tells that a process is of this run, and where it may put its files, goes to all of them. */
function environmentOf({ url, publicKey, secretKey }: Ready): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = '', TEST_RUN = '' } = process.env;
  return {
    ...{ PATH, HOME, TMPDIR, TEST_RUN },
    GATEWAY_SIM_URL: url,
    GATEWAY_SIM_INITIATE_URL: `${url}/payment/initiate`,
    ...{ GATEWAY_SIM_PUBLIC_KEY: publicKey, GATEWAY_SIM_SECRET_KEY: secretKey },
  };
}

const COMMANDS: Readonly<Record<Language, readonly [string, ...string[]]>> = {
  node: [process.execPath, fileOf('shop.mjs')],
  python: ['python3', fileOf('shop.py')],
  php: ['php', '-S', '127.0.0.1:0', fileOf('shop.php')],
};

/** Starts a shop, with a flaw or without; it ends with the test at the latest. */
async function startShopIn(language: Language, ready: Ready, flaw: string) {
  const [command, ...args] = COMMANDS[language];
  const php = { SHOP_FLAW: flaw, SHOP_FOLDER: await temporaryFolder(), PHP_CLI_SERVER_WORKERS: '8' };
  const child = spawn(command, language === 'php' || !flaw ? args : [...args, '--flaw', flaw], {
    env: { ...environmentOf(ready), ...(language === 'php' && php) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: PHP serves by further processes, which would outlive it.
    detached: true,
  });
  const closed = once(child, 'close');
  const stop = async () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // All of it has ended.
    }
    await closed;
  };
  onTestFinished(stop);
  return { url: await addressIn(child, closed), stop };
}

/** It prints its address as soon as it listens. */
function addressIn(
  { stdout, stderr }: ChildProcessByStdio<null, Readable, Readable>,
  ended: Promise<unknown>,
) {
  return new Promise<string>((resolve, reject) => {
    let printed = '';
    for (const stream of [stdout, stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const [address] = /http:\/\/127\.0\.0\.1:\d+(?=\n|\))/.exec(printed) ?? [];
        if (address !== undefined) resolve(address);
      });
    }
    void ended.then(() => reject(new Error(`the shop ended: ${printed}`)));
  });
}

/** An emulator of the binary, a shop beside it, and what audits it by the binary. */
export async function prepare(language: Language, flaw = '') {
  const cwd = await temporaryFolder();
  const { ready, child, ended } = await startBinary(['--in-memory', '--secret-key', SECRET], { cwd });
  const { url, stop } = await startShopIn(language, ready, flaw);
  const env = environmentOf(ready);
  const byUrl = ['--order-url', `${url}/order`, '--probe-url', `${url}/orders/{identifier}`];
  return {
    ...{ cwd, ready, url, env, byUrl },
    /** Before the end of the test, where many are tried. */
    stop: async () => {
      child.kill('SIGKILL');
      await Promise.all([stop(), ended]);
    },
    audit: (args: readonly string[] = [], by: readonly string[] = byUrl) =>
      run(['audit', `${url}/ipn`, ...by, '--paid-when', '.status=paid', ...args], { cwd, env }),
  };
}
