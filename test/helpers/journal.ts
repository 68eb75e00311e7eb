import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How many changes the journal of a folder holds. */
export async function changesIn(folder: string): Promise<number> {
  const text = await readFile(join(folder, 'journal.jsonl'), 'utf8');
  return text.split('\n').filter((line) => line.startsWith('{"line":') && !line.includes('"snapshot":'))
    .length;
}
