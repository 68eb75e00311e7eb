import ids from '../../fixtures/fidelity/manifest.jsonl?ids';

/** The ids of all lines of the manifest. Only who describes the interface needs them. */
export const MANIFEST_IDS: readonly string[] = ids;
