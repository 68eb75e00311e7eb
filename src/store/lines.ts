import { isAscii } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { GatewayError } from '../contract/error.ts';
import { damaged, openFile, reason, requireNoDanglingLink } from './files.ts';

/** Bytes per read. No file is in memory as a whole, and the event loop can run in between. */
const CHUNK_BYTES = 2 ** 20;

/**
 * Reads a file in chunks. A chunk is valid until the caller requests the next one.
 *
 * @param options `from`, `to`: offsets, to read a part of the file
 */
export async function* chunksOf(
  file: FileHandle,
  { from = 0, to = Number.POSITIVE_INFINITY, chunkBytes = CHUNK_BYTES } = {},
): AsyncGenerator<Buffer> {
  const size = Math.min(chunkBytes, to - from);
  let spare: Buffer = Buffer.allocUnsafeSlow(size);
  const read = (into: Buffer, at: number) => {
    const reading = file.read(into, 0, Math.min(size, to - at), at);
    // The error surfaces at the next `await`. Until then, it must not end the process as an unhandled rejection.
    reading.catch(() => {});
    return reading;
  };
  let at = from;
  let next = read(Buffer.allocUnsafeSlow(size), at);
  try {
    for (;;) {
      const { bytesRead, buffer } = await next;
      if (!bytesRead) return;
      at += bytesRead;
      // Reads ahead while the caller uses this chunk.
      next = read(spare, at);
      spare = buffer;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await next.catch(() => {});
  }
}

/** Splits the chunks of a file into lines. */
export class LineSplitter {
  readonly #onLine: (line: Buffer) => void;
  /** Copies of the bytes after the last newline. */
  #rest: Buffer[] = [];

  /** @param onLine called with each line, without its newline. The bytes are valid during the call. */
  constructor(onLine: (line: Buffer) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      const line = chunk.subarray(from, end);
      from = end + 1;
      if (this.#rest.length) this.#onLine(Buffer.concat([...this.#rest.splice(0), line]));
      else this.#onLine(line);
    }
    if (from < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(from)));
  }

  /** The bytes after the last newline. */
  get rest(): Buffer {
    return Buffer.concat(this.#rest);
  }
}

/** The text of a line. Most lines are ASCII, which decodes in half the time. */
export function textOf(line: Buffer): string {
  return line.toString(isAscii(line) ? 'latin1' : 'utf8');
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
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      // The link's target may be on an unmounted disk, so a new state must not replace it.
      await requireNoDanglingLink(path, 'state_damaged');
      return undefined;
    }
    throw damaged(`${path} cannot be read: ${reason(error)}`, { cause: error });
  } finally {
    await file?.close();
  }
}
