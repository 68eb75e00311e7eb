import { isAscii } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { GatewayError } from '../contract/error.ts';
import { damaged, openFile, reason, requireNoDanglingLink } from './files.ts';

/** Read at a time: no file is ever in memory as a whole, and the event loop gets its turn in between. */
const CHUNK_BYTES = 2 ** 20;

/**
 * The content of a file, piece by piece. A piece is valid until the next one is asked for.
 *
 * @param options `from`, `to`: offsets of a part of it
 */
export async function* chunksOf(
  file: FileHandle,
  { from = 0, to = Number.POSITIVE_INFINITY, chunkBytes = CHUNK_BYTES } = {},
): AsyncGenerator<Buffer> {
  const size = Math.min(chunkBytes, to - from);
  let spare: Buffer = Buffer.allocUnsafeSlow(size);
  const read = (into: Buffer, at: number) => {
    const reading = file.read(into, 0, Math.min(size, to - at), at);
    // Its failure is heard when the piece before it was used, and must not end the process until then.
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
      // While this one is used.
      next = read(spare, at);
      spare = buffer;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await next.catch(() => {});
  }
}

/** Puts lines together from the pieces of a file. */
export class LineSplitter {
  readonly #take: (line: Buffer) => void;
  /** What came behind the last newline, in copies. */
  #rest: Buffer[] = [];

  /** @param take called with each line, without its newline; the bytes are valid during the call */
  constructor(take: (line: Buffer) => void) {
    this.#take = take;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      const line = chunk.subarray(from, end);
      from = end + 1;
      if (this.#rest.length) this.#take(Buffer.concat([...this.#rest.splice(0), line]));
      else this.#take(line);
    }
    if (from < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(from)));
  }

  /** What came behind the last newline. */
  get rest(): Buffer {
    return Buffer.concat(this.#rest);
  }
}

/** The text of a line. Most have ASCII alone, which is read in half the time. */
export function textOf(line: Buffer): string {
  return line.toString(isAscii(line) ? 'latin1' : 'utf8');
}

/**
 * Opens a regular file and has it read.
 *
 * @param options.follows whether the path may be a link to it
 * @returns undefined when there is no such file
 * @throws GatewayError `state_damaged` when it cannot be read, or what `read` throws
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
      // What it leads to may be on a disk that is away: a new state must not take its place.
      await requireNoDanglingLink(path, 'state_damaged');
      return undefined;
    }
    throw damaged(`${path} cannot be read: ${reason(error)}`, { cause: error });
  } finally {
    await file?.close();
  }
}
