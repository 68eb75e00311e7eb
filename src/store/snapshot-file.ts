import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { damaged, replaceFile } from './files.ts';
import { chunksOf, LineSplitter, readIfThere } from './lines.ts';
import { parseJson, parseSnapshot, type Snapshot } from './snapshot.ts';
import { SnapshotLines, snapshotText } from './snapshot-lines.ts';

/** What people wrote otherwise than one record a line is one text in memory, and a text has a limit. */
const WHOLE_BYTES = 2 ** 28;

/**
 * Reads a snapshot at any size. Fixtures come through the same door.
 *
 * @returns null when there is no such file
 * @throws GatewayError `state_damaged`
 */
export async function readSnapshotFile(
  path: string,
  { chunkBytes }: { chunkBytes?: number } = {},
): Promise<{ snapshot: Snapshot; sha256: string } | null> {
  const read = await readIfThere(path, async (file) => {
    const hash = createHash('sha256');
    const shape = new SnapshotLines();
    const lines = new LineSplitter((line) => shape.push(line));
    for await (const chunk of chunksOf(file, chunkBytes)) {
      hash.update(chunk);
      if (!shape.isOther) lines.push(chunk);
    }
    return { json: shape.end(lines.rest) ?? (await readWhole(path)), sha256: hash.digest('hex') };
  });
  return read ? { snapshot: parseSnapshot(read.json, path), sha256: read.sha256 } : null;
}

async function readWhole(path: string): Promise<unknown> {
  const { size } = await stat(path);
  if (size > WHOLE_BYTES) {
    const problem = 'it is not written one record a line, and too large to be read otherwise';
    throw damaged(`${path} is damaged: ${problem}`);
  }
  return parseJson(await readFile(path, 'utf8'), path);
}

/** Writes a snapshot slice by slice to a new file that then takes the place of the old one. Returns its bytes. */
export async function writeSnapshotFile(path: string, snapshot: Snapshot): Promise<number> {
  let size = 0;
  const file = await replaceFile(path, async (file) => {
    for (const text of snapshotText(snapshot)) {
      const slice = Buffer.from(text);
      await file.appendFile(slice);
      size += slice.length;
    }
    // Without it a power cut after the rename could leave an empty file where a good one was.
    await file.datasync();
  });
  await file.close();
  return size;
}
