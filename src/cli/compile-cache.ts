import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, type Module } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** Long enough for all that a start loads. Real time. */
const FLUSH_AFTER_MS = 1_000;

/**
 * Keeps the compiled code of this program from one command to the next: compiling takes a fifth of a start. With Node's
 * own cache (from 22.1 on) a start took 115 ms, with this one 103. It lies in a folder that nobody else can write, since
 * what lies there is run. Node's variables count: with NODE_COMPILE_CACHE Node keeps it, and
 * NODE_DISABLE_COMPILE_CACHE=1 turns it off.
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): void {
  if (env['NODE_COMPILE_CACHE'] || env['NODE_DISABLE_COMPILE_CACHE']) return;
  try {
    const folder = cacheFolder(env);
    for (const path of [dirname(folder), folder]) {
      if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    }
    if (!isOurs(folder)) return;
    const flush = keepCodeIn(folder);
    process.once('exit', flush);
    // An emulator that is killed has no exit.
    setTimeout(flush, FLUSH_AFTER_MS).unref();
  } catch {
    // A home that cannot be written costs time only.
  }
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

/** The parameters of Node's own wrapper. */
const HEAD = '(function (exports, require, module, __filename, __dirname) {';
const CHECKSUM_BYTES = 4;

type Wrapped = (
  this: unknown,
  exports: unknown,
  require: NodeJS.Require,
  module: Module,
  filename: string,
  dirname: string,
) => void;

/** A file of this program that was compiled. */
interface Compiled {
  source: Buffer;
  script: Script;
}

/**
 * Has files of this program compiled by what is kept. V8 refuses what another V8 made.
 *
 * @returns writes what was not there before
 */
function keepCodeIn(folder: string): () => void {
  const fresh = new Map<string, Compiled>();
  createRequire(process.execPath).extensions['.cjs'] = (module, filename) => {
    const source = readFileSync(filename);
    const path = join(folder, `${process.version}-${process.arch}`, basename(filename));
    const cachedData = kept(path, source);
    const place = { filename, columnOffset: -HEAD.length };
    const script = new Script(`${HEAD}${source}\n})`, cachedData ? { ...place, cachedData } : place);
    if (!cachedData || script.cachedDataRejected) fresh.set(path, { source, script });
    const run: Wrapped = script.runInThisContext();
    run.call(module.exports, module.exports, createRequire(filename), module, filename, dirname(filename));
  };
  return () => {
    for (const [path, compiled] of fresh) write(path, compiled);
    fresh.clear();
  };
}

function kept(path: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const code = bytes.subarray(CHECKSUM_BYTES);
    // V8 ends the process over damaged code, and looks at the length of the source only.
    return bytes.readUInt32LE() === crc32(source, crc32(code)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function write(path: string, { source, script }: Compiled): void {
  const code = script.createCachedData();
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(source, crc32(code)));
  const part = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(part, Buffer.concat([checksum, code]), { mode: 0o600 });
    renameSync(part, path);
  } catch {
    discard(part);
  }
}

/** Best effort: where nothing can be written, nothing can be removed. */
function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What is left has a name that nobody looks for.
  }
}
