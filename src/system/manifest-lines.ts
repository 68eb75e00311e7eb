import { readFileSync } from 'node:fs';
import type { Source } from '../contract/vocabulary.ts';
import { packaged } from './package-info.ts';

/** One observation of the service interface, as far as the emulator needs it. `conform` checks the whole line. */
interface ManifestLine {
  id: string;
  source: { kind: Source };
  /** The messages and fields of the OpenAPI document that it proves. */
  proves?: readonly string[];
  profiles: readonly string[];
}

let lines: readonly ManifestLine[] | undefined;

/** All lines of the packaged manifest, in order. Read when they are needed, because few commands need them. */
export function manifestLines(): readonly ManifestLine[] {
  lines ??= readFileSync(packaged('fixtures/fidelity/manifest.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ManifestLine);
  return lines;
}
