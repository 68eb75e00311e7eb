import { type FileHandle, open } from 'node:fs/promises';
import { GatewayError } from '../contract/error.ts';
import { reason } from './files.ts';

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
  const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, to - from));
  for (let at = from; at < to; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at);
    if (!bytesRead) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
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

/**
 * Opens a file and has it read.
 *
 * @returns undefined when there is no such file
 * @throws GatewayError `state_damaged` when it cannot be read, or what `read` throws
 */
export async function readIfThere<Result>(
  path: string,
  read: (file: FileHandle) => Promise<Result>,
): Promise<Result | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    return await read(file);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new GatewayError('state_damaged', `${path} cannot be read: ${reason(error)}`, { cause: error });
  } finally {
    await file?.close();
  }
}
