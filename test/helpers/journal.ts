import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The number of changes in the journal of a folder. */
export async function changesIn(folder: string): Promise<number> {
  const text = await readFile(join(folder, 'journal.jsonl'), 'utf8');
  return text.split('\n').filter((line) => line.startsWith('{"line":') && !line.includes('"snapshot":'))
    .length;
}
