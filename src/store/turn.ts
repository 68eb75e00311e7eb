/** A turn of the event loop for everybody else, between two slices of long work. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
