import type { Io } from './io.ts';

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
