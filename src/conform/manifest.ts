import { GatewayError } from '../contract/error.ts';
import { parseInput } from '../contract/input.ts';
import { type Area, ManifestLine } from '../contract/manifest.ts';
import type { Choices } from '../contract/profiles.ts';
import { at } from './json.ts';

/**
 * The lines of a manifest: one JSON object a line, blank lines aside.
 *
 * @param file what to call it in an error
 * @throws GatewayError `usage`, naming the line and what was expected
 */
export function readManifest(text: string, file: string): ManifestLine[] {
  const lines: ManifestLine[] = [];
  const known = new Set<string>();
  // Editors may put a byte order mark in front.
  text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .forEach((written, index) => {
      if (written.trim() === '') return;
      const place = `${file}, line ${index + 1}`;
      const line = readLine(written, place);
      if (known.has(line.id)) throw usage(`${place}: the id ${line.id} was used before`);
      if (line.after !== undefined && !known.has(line.after)) {
        throw usage(`${place}: after must be the id of a line above it (got "${line.after}")`);
      }
      known.add(line.id);
      lines.push(line);
    });
  if (lines.length) return lines;
  throw usage(`${file} has no line: expected one observation a line, as JSON`);
}

function readLine(written: string, place: string): ManifestLine {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch (error) {
    throw usage(`${place}: expected a JSON object (${(error as Error).message})`);
  }
  try {
    const line = parseInput(ManifestLine, completed(value), undefined, 'usage');
    if (!line.profiles.length && !line.choice)
      throw usage('profiles must name one, or choice what it depends on');
    if (line.expect.client !== undefined || /^(\/|\{checkout\})/.test(line.request.path)) return line;
    throw usage('request.path must begin with / or {checkout}');
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError('usage', `${place}: ${error.message}`, {
      problems: error.problems.map((problem) => `${place}: ${problem}`),
    });
  }
}

/** A line may leave out what only says where it stands in a report. */
function completed(value: unknown): unknown {
  const path = at(value, 'request.path');
  const method = at(value, 'request.method');
  if (typeof value !== 'object' || typeof path !== 'string') return value;
  return { area: areaOf(value, path), says: `${method} ${path} is answered as expected.`, ...value };
}

function areaOf(line: unknown, path: string): Area {
  if (at(line, 'expect.client') !== undefined) return 'clients';
  if (at(line, 'expect.ipn') !== undefined) return 'ipn';
  if (/\/api\/cards(?![^/?])/.test(path)) return 'cards';
  if (/^\{checkout\}|\/checkout(?![^/?])/.test(path)) return 'checkout';
  return /\/initiate(?![^/?])/.test(path) ? 'initiate' : 'routes';
}

/** What decides whether a line holds: the profile, and the choices and options in force. */
export interface InForce {
  profile: ManifestLine['profiles'][number];
  choices: Choices;
  options: Readonly<Record<string, unknown>>;
}

/** Whether a line is to hold under these choices. */
export function holdsUnder({ profiles, choice }: ManifestLine, inForce: InForce): boolean {
  if (choice === undefined) return profiles.includes(inForce.profile);
  const values: Readonly<Record<string, unknown>> = { ...inForce.options, ...inForce.choices };
  return Object.entries(choice).every(([name, wanted]) => isChosen(values[name], wanted));
}

/** A list holds what it names, or with an exclamation mark what it does not; `NPR:Rs` is NPR. */
function isChosen(value: unknown, wanted: unknown): boolean {
  if (!Array.isArray(value)) return (value ?? null) === wanted;
  const codes = value.map((one) => String(one).split(':', 1)[0]);
  return typeof wanted === 'string' && wanted.startsWith('!')
    ? !codes.includes(wanted.slice(1))
    : codes.some((code) => code === wanted);
}

function usage(message: string): GatewayError {
  return new GatewayError('usage', message);
}
