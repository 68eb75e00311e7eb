import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { packaged } from '../system/package-info.ts';
import { makeTemporaryFolder, removeTemporaryFolder } from '../system/temporary-folder.ts';
import type { Io } from './io.ts';
import type { RunningServer } from './start-emulator.ts';

/** The variables that name a file of trusted certificates, which replaces the default ones. */
const TRUST = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'];
/** Its certificates are added to the default ones. */
const MORE_TRUST = 'NODE_EXTRA_CA_CERTS';

/** The trusted authorities of Debian, Red Hat, SUSE, Alpine and macOS. */
const SYSTEM_ROOTS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Redirects a command to the proxy of an emulator and, with --tls, makes it trust the certificate. */
export async function clientEnvironment({ port, tlsCa, parts }: RunningServer, { env }: Io) {
  const { hostAlias } = parts.runtime.options;
  const address = `http://127.0.0.1:${port}`;
  const folder = tlsCa === null ? undefined : await makeTemporaryFolder();
  const trust = tlsCa !== null && folder !== undefined ? await trustFiles(tlsCa, folder, env) : {};
  const required = `--require ${JSON.stringify(packaged('bin/alias-hosts.js'))}`;
  const variables: Record<string, string> = {
    http_proxy: address,
    https_proxy: address,
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    ...noProxyVariables(env, hostAlias),
    ...trust,
    ...(readsProxyVariables(process.versions.node)
      ? { NODE_USE_ENV_PROXY: '1' }
      : { NODE_OPTIONS: [env['NODE_OPTIONS'], required].filter(Boolean).join(' ') }),
  };
  const bundle = trust['SSL_CERT_FILE'];
  return {
    variables,
    /** The names of the variables, and the options for PHP, which has no variable. */
    notices: [
      `gateway-sim: requests to ${hostAlias.join(', ')} go to this emulator; set ${Object.keys(variables).join(', ')}`,
      '  Any other host gets 403: add it to --host-alias or NO_PROXY',
      ...(bundle === undefined
        ? []
        : [`  PHP needs: php -d curl.cainfo=${bundle} -d openssl.cafile=${bundle}`]),
    ],
    remove: async () => {
      if (folder !== undefined) await removeTemporaryFolder(folder);
    },
  };
}

/** Writes files with our certificate, plus the certificates that each variable already names, or the system's. */
async function trustFiles(tlsCa: string, folder: string, env: Io['env']): Promise<Record<string, string>> {
  const own = await readFile(tlsCa, 'utf8');
  const readIfAny = (path: string) => readFile(path, 'utf8').catch(() => undefined);
  let system: string | undefined;
  for (const path of SYSTEM_ROOTS) system ??= await readIfAny(path);
  system ??= rootCertificates.join('\n');
  const trust: Record<string, string> = {};
  for (const name of [...TRUST, MORE_TRUST]) {
    const given = env[name];
    const byDefault = name === MORE_TRUST ? '' : system;
    const before = given ? await readIfAny(given) : byDefault;
    trust[name] = before === undefined ? (given ?? '') : join(folder, `${name}.pem`);
    // The user's file stays in use, even if it cannot be read.
    if (before !== undefined) await writeFile(trust[name], `${before}\n${own}`);
  }
  return trust;
}

/**
 * Whether Node's clients read the proxy variables: all do since 22.21 and 24.5. Assumes that the command uses this
 * version.
 */
function readsProxyVariables(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 22 ? minor >= 21 : major > 24 || (major === 24 && minor >= 5);
}

/** Requests to this machine must bypass every proxy: one that is elsewhere cannot reach the emulator. */
const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** curl also accepts spaces between the entries of NO_PROXY. */
const SEPARATOR = /[\s,]+/;

/** Whether an entry of NO_PROXY lets requests to an alias bypass the emulator: they would reach the real gateway. */
function excludes(entry: string, alias: string): boolean {
  const host = alias.replace(/[:/].*$/, '').toLowerCase();
  const suffix = entry
    .toLowerCase()
    .replace(/\.?(:\d+)?$/, '')
    .replace(/^\*?\.?/, '');
  return suffix === '' ? entry.includes('*') : host === suffix || host.endsWith(`.${suffix}`);
}

/**
 * The variables that keep requests to this machine from a proxy: the previous entries of both, and the loopback names.
 *
 * @param aliases hosts whose requests must go to the proxy: entries that match them are dropped
 */
export function noProxyVariables(env: Io['env'], aliases: readonly string[] = []) {
  const inherited = [env['NO_PROXY'], env['no_proxy']].flatMap((hosts) => hosts?.split(SEPARATOR) ?? []);
  const kept = inherited.filter((entry) => entry && !aliases.some((alias) => excludes(entry, alias)));
  const hosts = [...new Set([...kept, ...LOOPBACK])].join();
  return { NO_PROXY: hosts, no_proxy: hosts };
}
