import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, type Module } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

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
  text: string;
  script: Script;
}

/**
 * Keeps the compiled code of this program's files, as Node itself does from 22.1 on. V8 refuses what another V8 made.
 *
 * @param folder where it is kept
 * @returns writes what was not there before
 */
export function keepCodeIn(folder: string): () => void {
  const fresh = new Map<string, Compiled>();
  createRequire(process.execPath).extensions['.cjs'] = (module, filename) => {
    const text = `${HEAD}${readFileSync(filename, 'utf8')}\n})`;
    const path = join(folder, `${process.version}-${process.arch}`, basename(filename));
    const cachedData = kept(path, text);
    const place = { filename, columnOffset: -HEAD.length };
    const script = new Script(text, cachedData ? { ...place, cachedData } : place);
    if (!cachedData || script.cachedDataRejected) fresh.set(path, { text, script });
    const run: Wrapped = script.runInThisContext();
    run.call(module.exports, module.exports, createRequire(filename), module, filename, dirname(filename));
  };
  return () => {
    for (const [path, compiled] of fresh) write(path, compiled);
    fresh.clear();
  };
}

function kept(path: string, text: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const code = bytes.subarray(CHECKSUM_BYTES);
    // V8 ends the process over damaged code, and looks at the length of the text only.
    return bytes.readUInt32LE() === crc32(text, crc32(code)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function write(path: string, { text, script }: Compiled): void {
  const code = script.createCachedData();
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(text, crc32(code)));
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
