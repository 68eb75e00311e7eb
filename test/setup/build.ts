import { buildIfStale } from '../../.config/build-if-stale.mjs';

/** The program as it is packed. */
export default function setup(): void {
  buildIfStale();
}
