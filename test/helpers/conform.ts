import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type ConformOptions, conform } from '../../src/conform/conform.ts';
import { type ManifestLine, readManifest } from '../../src/conform/manifest.ts';
import { resolveOptions } from '../../src/options/resolve.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { startAnswering } from './answering.ts';
import type { Sim } from './sim.ts';

const FILE = new URL('../../fixtures/fidelity/manifest.jsonl', import.meta.url);

/** All lines of the manifest. */
export const LINES: readonly ManifestLine[] = readManifest(readFileSync(FILE, 'utf8'), 'the manifest');

/** Lines by their ids, with the lines that they depend on. */
export function linesNamed(...ids: readonly string[]): ManifestLine[] {
  const wanted = new Set(ids);
  for (const { id, after } of LINES.toReversed())
    if (wanted.has(id) && after !== undefined) wanted.add(after);
  return LINES.filter(({ id }) => wanted.has(id));
}

/** Lines that depend on the profile. */
export const DEPENDING = linesNamed(...LINES.filter(({ choice }) => choice).map(({ id }) => id));

/** Checks an emulator with `conform`. */
export async function held(
  { url, publicKey, secretKey }: Pick<Sim, 'url' | 'publicKey' | 'secretKey'>,
  expected: StartOptions = {},
  more: Partial<ConformOptions> = {},
) {
  return conform({
    ...{ url, publicKey, secretKey, live: false, lines: LINES },
    inForce: resolveOptions([{ label: (name) => name, values: expected }]),
    ...more,
  });
}

/** A response of the emulator and its path. A server in front of the emulator may change it. */
interface PassedOn {
  path: string;
  status: number;
  body: string;
}

/**
 * Starts a server in front of an emulator that forwards every request.
 *
 * @param isLost whether a request to this path loses its connection
 */
export function startBetween(
  { url }: Sim,
  change: (answer: PassedOn) => void,
  isLost: (path: string) => boolean = () => false,
): Promise<string> {
  return startAnswering(async (incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    if (isLost(path)) return void incoming.socket.destroy();
    const { host: _, connection: __, 'content-length': ___, ...handed } = headers;
    const body = method === 'GET' ? null : await text(incoming);
    const passed = { method, headers: handed as Record<string, string>, body, redirect: 'manual' } as const;
    const answered = await fetch(url + path, passed);
    const answer = { path, status: answered.status, body: await answered.text() };
    change(answer);
    const {
      'content-length': ____,
      'transfer-encoding': _____,
      ...kept
    } = Object.fromEntries(answered.headers);
    outgoing.writeHead(answer.status, kept).end(answer.body);
  });
}
