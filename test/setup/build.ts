import { buildIfStale } from '../../.config/build-if-stale.mjs';

/** Builds `dist/` if it is outdated. */
export default function setup(): void {
  buildIfStale();
}
