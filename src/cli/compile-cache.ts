import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { createRequire, type Module } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** Modes that neither git nor most archives create. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Enough time for a start to load all of its code. In real time. */
const FLUSH_AFTER_MS = 1_000;

/**
 * Caches the compiled code of this program between commands: compiling takes a fifth of the start-up time. A start took
 * 115 ms with Node's own cache (since 22.1) and 103 ms with this one. The cached code is executed, so only this user may
 * write to the folder. Files with other modes are ignored, because they may come from elsewhere, such as a checkout.
 * With NODE_COMPILE_CACHE, Node caches the code itself. NODE_DISABLE_COMPILE_CACHE=1 turns the cache off.
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): void {
  if (env['NODE_COMPILE_CACHE'] || env['NODE_DISABLE_COMPILE_CACHE']) return;
  try {
    const folder = cacheFolder(env);
    if (folder !== undefined) compileWith(folder);
  } catch {
    // A read-only home folder only costs time.
  }
}

/** The folder for this version of Node; undefined if other users could change it. */
function cacheFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const places: Readonly<Record<string, string | undefined>> = {
    win32: env['LOCALAPPDATA'],
    darwin: join(homedir(), 'Library', 'Caches'),
  };
  const own = process.platform in places ? places[process.platform] : env['XDG_CACHE_HOME'];
  // Relative paths are ignored: they would depend on the working folder.
  const caches = [own, join(homedir(), '.cache')].find((path) => path !== undefined && isAbsolute(path));
  if (caches === undefined) return undefined;
  const names = ['gateway-sim', `${process.version}-${process.arch}`];
  const isThere = existsSync(caches);
  let folder = realpathSync(isThere ? caches : dirname(caches));
  // Creates nothing in a folder that other users can change.
  if (!isOursUpwards(folder)) return undefined;
  for (const name of isThere ? names : [basename(caches), ...names]) {
    folder = join(folder, name);
    if (!existsSync(folder)) {
      mkdirSync(folder, { mode: FOLDER_MODE });
      // The umask may have removed bits.
      chmodSync(folder, FOLDER_MODE);
    }
    if (!isOurs(folder) || !hasMode(lstatSync(folder), FOLDER_MODE)) return undefined;
  }
  return folder;
}

/** Whether a folder and all of its parents are ours. */
function isOursUpwards(folder: string): boolean {
  const above = dirname(folder);
  return isOurs(folder) && (above === folder || isOursUpwards(above));
}

/** Whether only we and the system can change a folder. In a sticky folder such as /tmp, users can remove only their own files. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder);
  const isSticky = (found.mode & 0o1000) !== 0;
  return found.isDirectory() && (isOwn(found) || found.uid === 0) && (isClosed(found) || isSticky);
}

const { getuid } = process;
/** Windows has neither owners nor modes. */
const isOwn = ({ uid }: Stats) => getuid === undefined || uid === getuid();
const isClosed = ({ mode }: Stats) => getuid === undefined || (mode & 0o022) === 0;
const hasMode = ({ mode }: Stats, wanted: number) => getuid === undefined || (mode & 0o777) === wanted;

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

/**
 * Compiles files of this program with the cached code, and writes new code to the cache. V8 rejects code of another V8
 * version.
 */
function compileWith(folder: string): void {
  const fresh = new Map<string, { source: Buffer; script: Script }>();
  createRequire(process.execPath).extensions['.cjs'] = (module, filename) => {
    const source = readFileSync(filename);
    const path = join(folder, basename(filename));
    const cachedData = kept(path, source);
    const place = { filename, columnOffset: -HEAD.length };
    const script = new Script(`${HEAD}${source}\n})`, cachedData ? { ...place, cachedData } : place);
    if (!cachedData || script.cachedDataRejected) fresh.set(path, { source, script });
    const run: Wrapped = script.runInThisContext();
    run.call(module.exports, module.exports, createRequire(filename), module, filename, dirname(filename));
  };
  const flush = () => {
    for (const [path, { source, script }] of fresh) write(path, source, script.createCachedData());
    fresh.clear();
  };
  process.once('exit', flush);
  // A killed emulator emits no exit event.
  setTimeout(flush, FLUSH_AFTER_MS).unref();
}

/** Much more than any file of this program needs. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** Only on Unix: do not follow links, and do not block on a pipe. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

function kept(path: string, source: Buffer): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const opened = fstatSync(file);
    if (!opened.isFile() || !isOwn(opened) || !hasMode(opened, FILE_MODE)) return undefined;
    if (opened.size > MAX_KEPT_BYTES) return undefined;
    const bytes = readFileSync(file);
    const code = bytes.subarray(CHECKSUM_BYTES);
    // Damaged code would crash V8, which checks only the length of the source.
    return bytes.readUInt32LE() === crc32(source, crc32(code)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function write(path: string, source: Buffer, code: Buffer): void {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(source, crc32(code)));
  const part = `${path}.${process.pid}`;
  try {
    writeFileSync(part, Buffer.concat([checksum, code]), { mode: FILE_MODE, flag: 'wx' });
    // The umask may have removed bits.
    chmodSync(part, FILE_MODE);
    renameSync(part, path);
  } catch {
    try {
      rmSync(part, { force: true });
    } catch {
      // Removing may fail, too. A leftover file has a name that is never read.
    }
  }
}
