/** Builds dist/ where its sources are others than those that it was made of. Throws where the build fails. */
export function buildIfStale(): void;
