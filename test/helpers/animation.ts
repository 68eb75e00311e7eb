import { crc32 } from 'node:zlib';

const SIGNATURE_BYTES = 8;

/** The chunks of a PNG file: type and data. */
function chunksOf(png: Buffer): { type: string; data: Buffer }[] {
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), typed, uint32(crc32(typed))]);
}

function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

export interface Frame {
  /** A PNG file. */
  png: Buffer;
  /** How long it is shown, in whole seconds. */
  seconds: number;
}

/**
 * An animated PNG, which repeats forever. Browsers that do not animate PNG show the first frame.
 *
 * @param frames images of the same size and color type
 */
export function animatedPng(frames: readonly Frame[]): Buffer {
  const first = frames[0]?.png;
  const header = first && chunksOf(first).find(({ type }) => type === 'IHDR');
  if (!first || !header) throw new Error('an animation needs at least one PNG frame');
  let sequence = 0;
  const size = header.data.subarray(0, 8);
  const body = frames.flatMap(({ png, seconds }, index) => {
    // The delay as a fraction, then two zeros: the next frame replaces this one.
    const delay = Buffer.alloc(6);
    delay.writeUInt16BE(seconds, 0);
    delay.writeUInt16BE(1, 2);
    const data = chunksOf(png).flatMap((one) => (one.type === 'IDAT' ? [one.data] : []));
    const control = chunk('fcTL', Buffer.concat([uint32(sequence++), size, uint32(0, 0), delay]));
    const parts = data.map((part) =>
      index === 0 ? chunk('IDAT', part) : chunk('fdAT', Buffer.concat([uint32(sequence++), part])),
    );
    return [control, ...parts];
  });
  return Buffer.concat([
    first.subarray(0, SIGNATURE_BYTES),
    chunk('IHDR', header.data),
    chunk('acTL', uint32(frames.length, 0)),
    ...body,
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
