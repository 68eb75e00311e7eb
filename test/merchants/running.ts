import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReadyEvent } from '../../src/cli/banner.ts';
import { run, startBinary } from '../helpers/binary.ts';
import { inherited, killGroup, launchProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';

export const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const succeeds = (command: string, ...args: string[]) =>
  spawnSync(command, args, { env: inherited() }).status === 0;

export const LANGUAGES = ['node', 'python', 'php'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Why a program in a language cannot run here; undefined if it can. @param extension a required PHP extension */
export function missing(language: Language, extension?: string): string | undefined {
  const command = { node: process.execPath, python: 'python3', php: 'php' }[language];
  if (!succeeds(command, '--version')) return `no ${command} here`;
  if (extension === undefined) return undefined;
  const isLoaded = succeeds('php', '-r', `exit(extension_loaded("${extension}") ? 0 : 1);`);
  return isLoaded ? undefined : `php has no ${extension} here`;
}

type Keys = Pick<ReadyEvent, 'url' | 'publicKey' | 'secretKey'>;

const environmentOf = ({ url, publicKey, secretKey }: Keys) => ({
  GATEWAY_SIM_URL: url,
  GATEWAY_SIM_INITIATE_URL: `${url}/payment/initiate`,
  GATEWAY_SIM_PUBLIC_KEY: publicKey,
  GATEWAY_SIM_SECRET_KEY: secretKey,
  GATEWAY_SECRET_KEY: secretKey,
});

const EXTENSIONS = { node: 'mjs', python: 'py', php: 'php' };

/**
 * Starts a shop, with a flaw or without, on a port that it prints; it ends with the test at the latest.
 *
 * @param edit changes its source
 */
export async function startShopIn(
  language: Language,
  ready: Keys,
  flaw: string,
  edit?: (source: string) => string,
) {
  let file = fileOf(`shop.${EXTENSIONS[language]}`);
  if (edit) {
    const source = await readFile(file, 'utf8');
    file = join(await temporaryFolder(), `edited.${EXTENSIONS[language]}`);
    await writeFile(file, edit(source));
  }
  const env = environmentOf(ready);
  const flawed = flaw ? ['--flaw', flaw] : [];
  const begin = {
    node: () => launchProgram([process.execPath, file, ...flawed], { env }),
    python: () => launchProgram(['python3', file, ...flawed], { env }),
    php: async () => {
      const php = { SHOP_FLAW: flaw, SHOP_FOLDER: await temporaryFolder(), PHP_CLI_SERVER_WORKERS: '8' };
      return launchProgram(['php', '-S', '127.0.0.1:0', file], { env: { ...env, ...php } });
    },
  };
  const { pid, ended, until } = await begin[language]();
  let url = '';
  await until((...written) => {
    url = /(http:\/\/127\.0\.0\.1:\d+)[)\n]/.exec(written.join('\n'))?.[1] ?? '';
    return url !== '';
  });
  const stop = () => {
    killGroup(pid);
    return ended;
  };
  return { url, stop };
}

/** An emulator of the binary, a shop, and a function that audits the shop with the binary. */
export async function prepare(language: Language, flaw = '') {
  const cwd = await temporaryFolder();
  const { ready, pid, ended } = await startBinary(['--in-memory', '--secret-key', SECRET], { cwd });
  const { url, stop } = await startShopIn(language, ready, flaw);
  const env = environmentOf(ready);
  const byUrl = ['--order-url', `${url}/order`, '--probe-url', `${url}/orders/{identifier}`];
  return {
    ...{ cwd, ready, url, env, byUrl },
    /** Before the end of the test, which may start many. */
    stop: async () => {
      killGroup(pid);
      await Promise.all([stop(), ended]);
    },
    audit: (args: readonly string[] = [], by: readonly string[] = byUrl) =>
      run(['audit', `${url}/ipn`, ...by, '--paid-when', '.status=paid', ...args], { cwd, env }),
  };
}
