import { buildIfStale } from '../../.config/build-if-stale.mjs';

/** The packed program. */
export default function setup(): void {
  buildIfStale();
}
