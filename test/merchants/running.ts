import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReadyEvent } from '../../src/cli/banner.ts';
import { inherited, killGroup, launchProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const succeeds = (command: string, ...args: string[]) =>
  spawnSync(command, args, { env: inherited() }).status === 0;

/** The languages that have a shop as a program; shops in Node run in the process of a test. */
export const LANGUAGES = ['python', 'php'] as const;
export type ShopLanguage = (typeof LANGUAGES)[number];
export type Language = ShopLanguage | 'node';

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

const EXTENSIONS = { python: 'py', php: 'php' };

/**
 * Starts a shop, optionally with a flaw, on the port that it prints. It stops no later than the test.
 *
 * @param edit changes its source
 */
export async function startShopIn(
  language: ShopLanguage,
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
  const env = {
    ...environmentOf(ready),
    ...{ SHOP_FLAW: flaw, SHOP_FOLDER: await temporaryFolder(), PHP_CLI_SERVER_WORKERS: '8' },
  };
  const command = { python: ['python3', file], php: ['php', '-S', '127.0.0.1:0', file] }[language];
  const { pid, ended, until } = launchProgram(command, { env });
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
