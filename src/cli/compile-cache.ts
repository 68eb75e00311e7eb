import { existsSync, mkdirSync, statSync } from 'node:fs';
import * as module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** What Node 20 does not have, and 22 in part. */
interface CompileCache {
  enableCompileCache?: (folder: string) => unknown;
  flushCompileCache?: () => void;
}

/** Long enough for all that a start loads. Real time. */
const FLUSH_AFTER_MS = 1_000;

/**
 * Keeps the compiled code of this program from one command to the next: that is a third of a command's time. In a
 * folder that nobody else can write, since what lies there is run. Node's own variables take precedence:
 * NODE_COMPILE_CACHE names another folder (from Node 22.1 on), NODE_DISABLE_COMPILE_CACHE=1 turns it off.
 */
export async function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  if (env['NODE_COMPILE_CACHE'] || env['NODE_DISABLE_COMPILE_CACHE']) return;
  try {
    const folder = cacheFolder(env);
    for (const path of [dirname(folder), folder]) {
      if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    }
    if (!isOurs(folder)) return;
    const flush = await keepIn(folder);
    // Else it is kept at the end only, which an emulator that is killed does not have.
    if (flush) setTimeout(flush, FLUSH_AFTER_MS).unref();
  } catch {
    // A home that cannot be written costs time only.
  }
}

async function keepIn(folder: string): Promise<(() => void) | undefined> {
  const { enableCompileCache, flushCompileCache }: typeof module & CompileCache = module;
  if (enableCompileCache) {
    enableCompileCache(folder);
    return flushCompileCache;
  }
  const { keepCodeIn } = await import('./code-cache.ts');
  const flush = keepCodeIn(folder);
  process.once('exit', flush);
  return flush;
}

function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const caches =
    process.platform === 'win32'
      ? env['LOCALAPPDATA']
      : process.platform === 'darwin'
        ? join(homedir(), 'Library', 'Caches')
        : env['XDG_CACHE_HOME'];
  return join(caches || join(homedir(), '.cache'), 'gateway-sim');
}

function isOurs(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
