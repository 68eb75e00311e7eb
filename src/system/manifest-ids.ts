import ids from '../../fixtures/fidelity/manifest.jsonl?ids';

/** The ids of all lines of the manifest. Needed only to describe the interface. */
export const MANIFEST_IDS: readonly string[] = ids;
