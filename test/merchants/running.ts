import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Ready, run, startBinary } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';

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

interface Started {
  url: string;
  child: ChildProcess;
}

const environmentOf = ({ url, publicKey, secretKey }: Ready) => ({
  ...{ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
  GATEWAY_SIM_URL: url,
  GATEWAY_SIM_INITIATE_URL: `${url}/payment/initiate`,
  ...{ GATEWAY_SIM_PUBLIC_KEY: publicKey, GATEWAY_SIM_SECRET_KEY: secretKey },
});

/** Starts a shop, with a flaw or without; it ends with the test at the latest. */
async function startShopIn(language: Language, ready: Ready, flaw: string) {
  const env = environmentOf(ready);
  const started =
    language === 'php'
      ? await startPhp(env, flaw)
      : await startScript(
          language === 'node' ? [process.execPath, fileOf('shop.mjs')] : ['python3', fileOf('shop.py')],
          env,
          flaw,
        );
  const { child, url } = started;
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(stop);
  return { url, stop };
}

/** It prints its address on its first line. */
async function startScript(
  [command = '', ...args]: string[],
  env: Record<string, string>,
  flaw: string,
): Promise<Started> {
  const child = spawn(command, [...args, ...(flaw ? ['--flaw', flaw] : [])], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  for await (const text of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    printed += text;
    if (printed.includes('\n')) break;
  }
  return { child, url: printed.trim() };
}

async function startPhp(env: Record<string, string>, flaw: string): Promise<Started> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = await temporaryFolder();
  const child = spawn('php', ['-S', `127.0.0.1:${port}`, fileOf('shop.php')], {
    env: { ...env, SHOP_FLAW: flaw, SHOP_FOLDER: folder, PHP_CLI_SERVER_WORKERS: '8' },
    stdio: 'ignore',
  });
  while (!(await fetch(url).catch(() => undefined))) await sleep(20);
  return { child, url };
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
