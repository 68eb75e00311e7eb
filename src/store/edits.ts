import { crc32 } from 'node:zlib';
import { COLLECTION_NAMES, type CollectionName } from '../contract/state.ts';
import { type Change, State } from '../domain/state.ts';
import type { Checksums, StoredChange } from './snapshot.ts';

/*
 * A person may edit db.json while the journal has changes to it. Each change in the journal has the checksums of the
 * records that it replaced. So a record of db.json was edited if it is not the one that the first change replaced.
 */

/** The checksums for a change that is about to be applied to a state. Undefined if it only adds records. */
export function checksumsOf(change: Change, state: State): Checksums | undefined {
  const checksums: { [Name in CollectionName]?: Record<string, string> } = {};
  for (const name of COLLECTION_NAMES) {
    for (const id of idsIn(change, name)) {
      const checksum = checksumOf(state, name, id);
      if (checksum === undefined) continue;
      checksums[name] ??= {};
      checksums[name][id] = checksum;
    }
  }
  return Object.keys(checksums).length ? checksums : undefined;
}

/**
 * The records that both a person and the journal changed, for humans. A record that is as in any of the changes counts as
 * unedited: db.json may already include a change that was still on its way to the journal.
 *
 * @param state the records in the edited db.json
 * @param changes those that db.json does not include, in order
 */
export function changedByBoth(state: State, changes: readonly { change: StoredChange }[]): string[] {
  const records = new Map<string, { found: string | undefined; known: Set<string | undefined> }>();
  for (const { change } of changes) {
    if (change.reset) return ['everything (the state was reset or imported)'];
    const changed = new State();
    changed.apply(change);
    for (const name of COLLECTION_NAMES) {
      for (const id of idsIn(change, name)) {
        const record = `${name} "${id}"`;
        const versions = records.get(record) ?? {
          found: checksumOf(state, name, id),
          known: new Set([change.replaced?.[name]?.[id]]),
        };
        versions.known.add(checksumOf(changed, name, id));
        records.set(record, versions);
      }
    }
  }
  return [...records].flatMap(([record, { found, known }]) => (known.has(found) ? [] : [record]));
}

const idsIn = (change: Change, name: CollectionName): string[] => [
  ...(change[name] ?? []).map(({ id }) => id),
  ...(change.removed?.[name] ?? []),
];

function checksumOf(state: State, name: CollectionName, id: string): string | undefined {
  const record = state[name].get(id);
  return record && crc32(JSON.stringify(record)).toString(16);
}
