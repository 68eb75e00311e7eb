import { basename, delimiter, dirname, relative } from 'node:path';

/**
 * How the user invoked the tool, so that commands can be printed ready to paste.
 *
 * @param argv process.argv
 * @param environment process.env
 */
export function invocationOf(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  cwd: string,
): string {
  if (environment['npm_command'] === 'exec') {
    return basename(environment['_'] ?? '') === 'npm' ? 'npm exec -- gateway-sim' : 'npx gateway-sim';
  }
  const script = argv[1] ?? 'gateway-sim';
  const onPath = (environment['PATH'] ?? '').split(delimiter).includes(dirname(script));
  if (basename(script) === 'gateway-sim' && onPath) return 'gateway-sim';
  const path = relative(cwd, script);
  const shown = path.startsWith('..') ? script : path;
  if (script.endsWith('.js')) return `node ${shown}`;
  return shown.includes('/') ? shown : `./${shown}`;
}
