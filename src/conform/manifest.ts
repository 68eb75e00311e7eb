import { GatewayError, usage } from '../contract/error.ts';
import { parseInput } from '../contract/input.ts';
import { type Area, ManifestLine } from '../contract/manifest.ts';
import type { Choices } from '../contract/profiles.ts';
import { at } from './answer.ts';

/**
 * Parses a manifest: one JSON object per line. Blank lines are ignored.
 *
 * @param file the file's name in errors
 * @throws GatewayError `usage`, with the line and what was expected
 */
export function readManifest(text: string, file: string): ManifestLine[] {
  const lines: ManifestLine[] = [];
  const known = new Set<string>();
  // Some editors add a byte order mark.
  text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .forEach((written, index) => {
      if (written.trim() === '') return;
      const place = `${file}, line ${index + 1}`;
      const line = readLine(written, place);
      if (known.has(line.id)) throw usage(`${place}: duplicate id ${line.id}`);
      if (line.after !== undefined && !known.has(line.after)) {
        throw usage(`${place}: after must be the id of an earlier line (got "${line.after}")`);
      }
      known.add(line.id);
      lines.push(line);
    });
  if (lines.length) return lines;
  throw usage(`${file} is empty: expected one observation per line, as JSON`);
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
    if (!line.profiles.length && !line.choice) throw usage('expected a profile in profiles, or a choice');
    if (line.expect.client !== undefined || /^(\/|\{checkout\})/.test(line.request.path)) return line;
    throw usage('request.path must begin with / or {checkout}');
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw usage(`${place}: ${error.message}`, {
      problems: error.problems.map((problem) => `${place}: ${problem}`),
    });
  }
}

/** Adds defaults for fields that only a report uses. */
function completed(value: unknown): unknown {
  const path = at(value, 'request.path');
  const method = at(value, 'request.method');
  if (typeof value !== 'object' || typeof path !== 'string') return value;
  return { area: areaOf(value, path), says: `${method} ${path} returns the expected response.`, ...value };
}

function areaOf(line: unknown, path: string): Area {
  if (at(line, 'expect.client') !== undefined) return 'clients';
  if (at(line, 'expect.ipn') !== undefined) return 'ipn';
  if (/\/api\/cards(?![^/?])/.test(path)) return 'cards';
  if (/^\{checkout\}|\/checkout(?![^/?])/.test(path)) return 'checkout';
  return /\/initiate(?![^/?])/.test(path) ? 'initiate' : 'routes';
}

/** The settings that decide which lines apply: a profile, its choices and the options of `start`. */
export interface InForce {
  readonly profile: ManifestLine['profiles'][number];
  readonly choices: Choices;
  readonly [option: string]: unknown;
}

/** Whether a line applies to these settings. */
export function appliesWith({ profiles, choice }: ManifestLine, inForce: InForce): boolean {
  if (choice === undefined) return profiles.includes(inForce.profile);
  const values: Readonly<Record<string, unknown>> = { ...inForce, ...inForce.choices };
  return Object.entries(choice).every(([name, wanted]) => isChosen(values[name], wanted));
}

/** Whether a list contains a value, or lacks it after an exclamation mark; `NPR:Rs` is NPR. */
function isChosen(value: unknown, wanted: unknown): boolean {
  if (!Array.isArray(value)) return (value ?? null) === wanted;
  const codes = value.map((one) => String(one).split(':', 1)[0]);
  return typeof wanted === 'string' && wanted.startsWith('!')
    ? !codes.includes(wanted.slice(1))
    : codes.some((code) => code === wanted);
}
