import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LaunchOptions } from 'playwright-core';

/** Required in a container without a display. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

const INSTALLED = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser'];

/**
 * How to start Chromium: the one in CHROMIUM_PATH; otherwise, on Linux x64, the headless shell from npm, which takes half
 * the time of a complete browser; otherwise an installed one.
 *
 * @param folder the folder for its temporary files, some of which it does not remove
 */
export async function launchOptions(
  folder: string,
): Promise<Required<Pick<LaunchOptions, 'executablePath' | 'args' | 'env'>>> {
  const env = { ...process.env, TMPDIR: folder };
  const named = process.env['CHROMIUM_PATH'];
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROMIUM_PATH names ${named}, which does not exist`);
    return { executablePath: named, args: ARGUMENTS, env };
  }
  if (process.platform === 'linux' && process.arch === 'x64') {
    const { executablePath, variables } = await unpacked();
    return { executablePath, args: ARGUMENTS, env: { ...env, ...variables } };
  }
  const installed = INSTALLED.map(onPath).find((path) => path !== undefined);
  if (installed === undefined) {
    throw new Error(`no ${INSTALLED.join(', ')} on the PATH: install one, or name one with CHROMIUM_PATH`);
  }
  return { executablePath: installed, args: ARGUMENTS, env };
}

function onPath(name: string): string | undefined {
  try {
    return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

const PACKAGE = fileURLToPath(new URL('../../node_modules/@sparticuz/chromium', import.meta.url));

/** The headless shell of the npm package, with libraries and a font for machines that lack them. It is unpacked once. */
async function unpacked() {
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = join(dirname(PACKAGE), `.unpacked-${version}`);
  if (!existsSync(folder)) await unpackInto(folder);
  const libraries = [join(folder, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':');
  return {
    executablePath: join(folder, 'chromium'),
    variables: { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: join(folder, 'fonts.conf') },
  };
}

/** The package unpacks into the temporary folder, and reads variables to detect the machine. */
async function unpackInto(folder: string): Promise<void> {
  const made = await mkdtemp(`${folder}-`);
  const before = { ...process.env };
  try {
    // The package unpacks the libraries only if these variables describe AWS Lambda.
    Object.assign(process.env, { TMPDIR: made, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' });
    const { default: packed } = await import('@sparticuz/chromium');
    await packed.executablePath();
    await mkdir(join(made, 'fonts'), { recursive: true });
    await writeFile(join(made, 'fonts.conf'), fontConfiguration(folder));
    // Another run may have unpacked it in the meantime.
    await rename(made, folder).catch(() => rm(made, { recursive: true }));
  } finally {
    for (const name of ['TMPDIR', 'AWS_LAMBDA_JS_RUNTIME', 'FONTCONFIG_PATH', 'LD_LIBRARY_PATH']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}
