import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { holdsUnder, readManifest } from '../../src/conform/manifest.ts';
import { AREAS } from '../../src/contract/manifest.ts';
import { choicesOf, PROFILE_NAMES, PROFILES } from '../../src/contract/profiles.ts';

const FILE = new URL('../../fixtures/fidelity/manifest.jsonl', import.meta.url);
const lines = readManifest(readFileSync(FILE, 'utf8'), 'the manifest');

/** What a profile comes to when nothing is said beside it. */
function inForce(profile: (typeof PROFILE_NAMES)[number]) {
  const options: Readonly<Record<string, unknown>> = {
    ...{ amountFormat: 'sent', errorStatus: 'ok' },
    currency: [],
    ...PROFILES[profile].options,
  };
  return { profile, choices: choicesOf(profile), options };
}

/** The ids of lines that are the same in what `part` makes of them. */
function repeated(part: (line: (typeof lines)[number]) => string): string[][] {
  const groups = new Map<string, string[]>();
  for (const line of lines) groups.set(part(line), [...(groups.get(part(line)) ?? []), line.id]);
  return [...groups.values()].filter(({ length }) => length > 1);
}

describe('the manifest', () => {
  it('has at least 300 lines, 200 of which a loopback target shows under the default profile', () => {
    expect(lines.length).toBeGreaterThanOrEqual(300);
    const seen = lines.filter((line) => holdsUnder(line, inForce('document')) && !line.expect.client);
    expect(seen.length).toBeGreaterThanOrEqual(200);
  });

  it('has lines about each area, and from each source', () => {
    expect([...new Set(lines.map(({ area }) => area))].sort()).toEqual(Object.keys(AREAS).sort());
    expect(new Set(lines.map(({ source }) => source.kind)).size).toBe(3);
  });

  it('says of each line in which profiles it holds, as its choice does', () => {
    const wrong = lines.filter(({ profiles, ...line }) => {
      const derived = PROFILE_NAMES.filter((name) => holdsUnder({ profiles, ...line }, inForce(name)));
      return JSON.stringify(derived) !== JSON.stringify(profiles);
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('has no profile for what only an option of ours brings about, and one at least for all else', () => {
    const nowhere = lines.filter(({ profiles }) => !profiles.length);
    expect(new Set(nowhere.map(({ source }) => source.kind))).toEqual(new Set(['chosen']));
  });

  it('takes from the document neither a status nor what the texts of a refusal name: it shows neither', () => {
    const wrong = lines.filter(
      ({ source, expect: { status, names } }) =>
        source.kind === 'documented' && (status !== undefined || names?.length),
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('says no observation twice', () => {
    expect(repeated(({ id, says, area, source, ...line }) => JSON.stringify(line))).toEqual([]);
    expect(repeated(({ says }) => says)).toEqual([]);
  });

  it('expects something of every line, and names no secret', () => {
    expect(lines.filter(({ expect: wanted }) => !Object.keys(wanted).length)).toEqual([]);
    expect(readFileSync(FILE, 'utf8')).not.toMatch(/(pub|sec)_sim_/);
  });
});

it('takes a file that begins with a byte order mark', () => {
  expect(readManifest(`\uFEFF${JSON.stringify(lines[0])}`, 'mine.jsonl')).toHaveLength(1);
});

it('takes a line that leaves out what a report shows of it', () => {
  const { area, says, ...line } = lines.find(({ id }) => id === 'card-create') ?? expect.fail('no such line');
  const [read] = readManifest(JSON.stringify(line), 'mine.jsonl');
  expect(read).toEqual({ ...line, area: 'cards', says: 'POST /api/cards/save is answered as expected.' });
});

describe('a line that is malformed', () => {
  const line = JSON.stringify(lines[0]);
  const REQUEST = { method: 'GET', path: '/', headers: {}, body: null };
  const changed = (change: object) => JSON.stringify({ ...JSON.parse(line), ...change });

  it.each([
    ['no JSON', '{', 'mine.jsonl, line 2: expected a JSON object'],
    ['an id in capitals', changed({ id: 'One' }), 'mine.jsonl, line 2: id must be kebab-case'],
    [
      'an unknown field',
      changed({ id: 'x', sais: 1 }),
      'mine.jsonl, line 2: unknown field sais: did you mean says?',
    ],
    ['no source', changed({ id: 'x', source: undefined }), 'mine.jsonl, line 2: source is required'],
    [
      'another kind',
      changed({ id: 'x', source: { kind: 'heard', where: 'x' } }),
      'documented, observed, chosen',
    ],
    [
      'another profile',
      changed({ id: 'x', profiles: ['old'] }),
      'document, older-server, newer-server, observed',
    ],
    ['no profile', changed({ id: 'x', profiles: [] }), 'mine.jsonl, line 2: profiles'],
    [
      'a path without a slash',
      changed({ id: 'x', request: { ...REQUEST, path: 'a' } }),
      'mine.jsonl, line 2: request.path must begin with /',
    ],
    [
      'no name of a header',
      changed({ id: 'x', request: { ...REQUEST, headers: { 'x y': '1' } } }),
      'mine.jsonl, line 2: request.headers',
    ],
    [
      'no text of a header',
      changed({ id: 'x', request: { ...REQUEST, headers: { x: '1\n2' } } }),
      'must be a header value',
    ],
    ['no pattern', changed({ id: 'x', expect: { matches: { a: '(' } } }), 'must be a regular expression'],
    ['the id of another', line, 'mine.jsonl, line 2: the id initiate-sandbox was used before'],
    [
      'an unknown line before it',
      changed({ id: 'x', after: 'y' }),
      'after must be the id of a line above it',
    ],
  ])('is named with its file and number: %s', (_, second, message) => {
    expect(() => readManifest(`${line}\n${second}\n`, 'mine.jsonl')).toThrow(message);
  });

  it('is one where there is none', () => {
    expect(() => readManifest('\n', 'mine.jsonl')).toThrow('mine.jsonl has no line');
  });
});
