/** Builds dist/ if its sources have changed since the last build. Throws if the build fails. */
export function buildIfStale(): void;
