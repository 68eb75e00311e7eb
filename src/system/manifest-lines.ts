import lines from '../../fixtures/fidelity/manifest.jsonl?lines';

/** All lines of the manifest. Needed only to describe the interface. */
export const MANIFEST_LINES = lines;
