import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AREAS, appliesWith, readManifest } from '../../src/conform/manifest.ts';
import { choicesOf, PROFILE_NAMES, PROFILES } from '../../src/contract/profiles.ts';

const FILE = new URL('../../fixtures/fidelity/manifest.jsonl', import.meta.url);
const lines = readManifest(readFileSync(FILE, 'utf8'), 'the manifest');

/** The settings with a profile and no other options. */
function inForce(profile: (typeof PROFILE_NAMES)[number]) {
  const defaults = { amountFormat: 'sent', errorStatus: 'ok', currency: [] };
  return { profile, choices: choicesOf(profile), ...defaults, ...PROFILES[profile].options };
}

/** The ids of lines for which `part` returns the same. */
function repeated(part: (line: (typeof lines)[number]) => string): string[][] {
  const groups = new Map<string, string[]>();
  for (const line of lines) groups.set(part(line), [...(groups.get(part(line)) ?? []), line.id]);
  return [...groups.values()].filter(({ length }) => length > 1);
}

describe('the manifest', () => {
  it('has at least 300 lines, of which at least 200 apply to a local target with the default profile', () => {
    expect(lines.length).toBeGreaterThanOrEqual(300);
    const seen = lines.filter((line) => appliesWith(line, inForce('document')) && !line.expect.client);
    expect(seen.length).toBeGreaterThanOrEqual(200);
  });

  it('has lines for each area and from each source', () => {
    expect([...new Set(lines.map(({ area }) => area))].sort()).toEqual(Object.keys(AREAS).sort());
    expect(new Set(lines.map(({ source }) => source.kind)).size).toBe(3);
  });

  it('lists the profiles that the choice of each line implies', () => {
    const wrong = lines.filter(({ profiles, ...line }) => {
      const derived = PROFILE_NAMES.filter((name) => appliesWith({ profiles, ...line }, inForce(name)));
      return JSON.stringify(derived) !== JSON.stringify(profiles);
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('has at least one profile for each line that does not depend on an option of gateway-sim', () => {
    const nowhere = lines.filter(({ profiles }) => !profiles.length);
    expect(new Set(nowhere.map(({ source }) => source.kind))).toEqual(new Set(['chosen']));
  });

  it('has neither a status nor error texts in documented lines, because the document shows neither', () => {
    const wrong = lines.filter(
      ({ source, expect: { status, names } }) =>
        source.kind === 'documented' && (status !== undefined || names?.length),
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('has no duplicate observations', () => {
    expect(repeated(({ id, says, area, source, ...line }) => JSON.stringify(line))).toEqual([]);
    expect(repeated(({ says }) => says)).toEqual([]);
  });

  it('has an expectation in every line, and no secrets', () => {
    expect(lines.filter(({ expect: wanted }) => !Object.keys(wanted).length)).toEqual([]);
    expect(readFileSync(FILE, 'utf8')).not.toMatch(/(pub|sec)_sim_/);
  });
});

describe('a malformed manifest', () => {
  const REQUEST = { method: 'GET', path: '/', headers: {}, body: null };

  it.each<[string, object, string]>([
    ['a duplicate id', { id: 'initiate-sandbox' }, 'duplicate id initiate-sandbox'],
    ['an unknown field', { sais: 1 }, 'unknown field sais: did you mean says?'],
    ['an unknown profile', { profiles: ['other'] }, 'document, observed, server'],
    ['an invalid header name', { request: { ...REQUEST, headers: { 'x y': '1' } } }, 'request.headers'],
    ['an invalid pattern', { expect: { matches: { a: '(' } } }, 'must be a regular expression'],
    ['an unknown line before it', { after: 'y' }, 'after must be the id of an earlier line'],
  ])('is reported with its file and line number: %s', (_, change, problem) => {
    const [first] = lines;
    const text = `${JSON.stringify(first)}\n${JSON.stringify({ ...first, id: 'x', ...change })}\n`;
    expect(() => readManifest(text, 'mine.jsonl')).toThrow('mine.jsonl, line 2: ');
    expect(() => readManifest(text, 'mine.jsonl')).toThrow(problem);
  });

  it('is reported if it is not JSON', () => {
    expect(() => readManifest('{', 'mine.jsonl')).toThrow('mine.jsonl, line 1: expected a JSON object');
  });

  it('is reported if it is empty', () => {
    expect(() => readManifest('\n', 'mine.jsonl')).toThrow('mine.jsonl is empty');
  });
});
