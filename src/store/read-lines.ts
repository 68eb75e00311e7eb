import type { FileHandle } from 'node:fs/promises';
import { GatewayError } from '../contract/error.ts';
import { openFile, reason } from '../system/files.ts';
import { damaged } from './errors.ts';

/** Bytes per read: the event loop can run in between. */
const CHUNK_BYTES = 2 ** 20;
export const NEWLINE = 0x0a;

/** Reads an open file in chunks. @param options offsets, to read a part of it */
export async function* chunksOf(
  file: FileHandle,
  { from = 0, to = Number.POSITIVE_INFINITY } = {},
): AsyncGenerator<Buffer> {
  // Most files are small, and a buffer that is too large costs a collection of garbage.
  const end = Math.min(to, (await file.stat()).size);
  for (let at = from; at < end; ) {
    const size = Math.min(CHUNK_BYTES, end - at);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(size), 0, size, at);
    if (!bytesRead) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Reads an open file line by line. Each line ends with its newline; only the last one may lack it. */
export async function* linesOf(file: FileHandle): AsyncGenerator<Buffer> {
  /** The beginning of a line, from earlier chunks. */
  let pieces: Buffer[] = [];
  for await (const chunk of chunksOf(file)) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const line = chunk.subarray(from, end + 1);
      yield pieces.length ? Buffer.concat([...pieces, line]) : line;
      pieces = [];
      from = end + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
  if (pieces.length) yield Buffer.concat(pieces);
}

/**
 * Opens a regular file and passes it to `read`.
 *
 * @param options.follows whether the path may be a link to the file
 * @returns undefined if the file does not exist
 * @throws GatewayError `state_damaged` if it cannot be read, or the error of `read`
 */
export async function readIfThere<Result>(
  path: string,
  read: (file: FileHandle) => Promise<Result>,
  { follows = false } = {},
): Promise<Result | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await openFile(path, 'read', { follows });
    return await read(file);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw damaged(`${path} cannot be read: ${reason(error)}`, { cause: error });
  } finally {
    await file?.close();
  }
}
