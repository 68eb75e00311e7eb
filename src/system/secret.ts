import { timingSafeEqual } from 'node:crypto';

/** Compares two secrets in constant time. */
export function sameSecret(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** A masked secret: enough to recognize it, but not to use it. */
export function masked(secret: string): string {
  return secret.length > 12 ? `${secret.slice(0, 8)}…${secret.slice(-2)}` : '…';
}

/** Shorter secrets, such as `test`, are common words. Masking them would garble every record. */
const SHORTEST_MASKED = 6;
/** Minimum length of a prefix that is masked like the whole secret, because texts may be cut off. */
const MASKED_PREFIX = 16;
/** Length of the prefix that is searched first. The whole secret is compared only where it is found. */
const SEARCHED_PREFIX = 4;

/** Maximum comparisons per character of a text. A text full of secrets needs about one, a hostile text many. */
const EFFORT_PER_CHARACTER = 2;
const LEAST_EFFORT = 10_000;

const ESCAPED_IN_HTML: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": '#39',
};

/** The ways to write a character, as patterns: plain, escaped, percent-encoded, escaped in JSON or in HTML. */
export function waysToWrite(character: string): string[] {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const html = ESCAPED_IN_HTML[character];
  const plain = character.replace(/[^A-Za-z0-9]/, '\\$&');
  const always = [plain, `\\\\${plain}`, `%${anyCase}`, `\\\\u00${anyCase}`];
  return html === undefined ? always : [...always, `&${html};`];
}

/**
 * A node in the prefix tree of all secrets. A regular expression for a whole secret would take 170 KB of memory.
 */
interface Branch {
  next: Map<string, { ways: RegExp[]; branch: Branch }>;
  /** The secret that this prefix identifies; undefined if it is too short. */
  secret: string | undefined;
}

/** @param secrets if several share a prefix, it identifies the first of them */
function treeOf(secrets: readonly string[], waysOf: typeof waysToWrite): Branch {
  const root: Branch = { next: new Map(), secret: undefined };
  const ways = new Map<string, RegExp[]>();
  for (const secret of secrets) {
    let branch = root;
    const characters = [...secret];
    for (const [index, character] of characters.entries()) {
      const known = ways.get(character) ?? waysOf(character).map((way) => new RegExp(way, 'y'));
      ways.set(character, known);
      const next = branch.next.get(character) ?? {
        ways: known,
        branch: { next: new Map(), secret: undefined },
      };
      branch.next.set(character, next);
      branch = next.branch;
      if (index + 1 >= Math.min(MASKED_PREFIX, characters.length)) branch.secret ??= secret;
    }
  }
  return root;
}

/** The possible end positions of a character at a position. */
function endsOf(ways: readonly RegExp[], text: string, at: number): number[] {
  return ways.flatMap((way) => {
    way.lastIndex = at;
    return way.test(text) ? [way.lastIndex] : [];
  });
}

/**
 * The longest secret prefix at a position, and its end.
 *
 * @param effort the remaining number of comparisons for this text; below 0 the search stops
 */
function foundAt(
  text: string,
  at: number,
  root: Branch,
  effort: { left: number },
): { secret: string; end: number } | undefined {
  let found: { secret: string; end: number } | undefined;
  let reached = new Map([[root, new Set([at])]]);
  while (reached.size && effort.left >= 0) {
    const further: typeof reached = new Map();
    for (const [{ next }, places] of reached) {
      for (const { ways, branch } of next.values()) {
        const ends = new Set([...places].flatMap((place) => endsOf(ways, text, place)));
        if (!ends.size) continue;
        effort.left -= ends.size;
        further.set(branch, ends);
        if (branch.secret !== undefined) found = { secret: branch.secret, end: Math.max(...ends) };
      }
    }
    reached = further;
  }
  return found;
}

/**
 * Masks secrets in texts, in any encoding. A text without secrets is returned unchanged. If a hostile text exceeds the
 * effort limit, the rest of it is omitted.
 *
 * @param show replaces a secret
 * @param waysOf the ways to write each of its characters
 */
export function textMask(
  secrets: readonly string[],
  show = masked,
  waysOf = waysToWrite,
): (text: string) => string {
  const sought = secrets
    .filter((secret) => secret.length >= SHORTEST_MASKED)
    .toSorted((one, other) => other.length - one.length);
  if (!sought.length) return (text) => text;
  const root = treeOf(sought, waysOf);
  const beginnings = new Set(sought.map((secret) => secret.slice(0, SEARCHED_PREFIX)));
  const written = [...beginnings].map((beginning) =>
    [...beginning].map((character) => `(?:${waysOf(character).join('|')})`).join(''),
  );
  const places = new RegExp(written.join('|'), 'g');
  return (text) => {
    const effort = { left: EFFORT_PER_CHARACTER * text.length + LEAST_EFFORT };
    let shown = '';
    let end = 0;
    places.lastIndex = 0;
    for (let place = places.exec(text); place; place = places.exec(text)) {
      const { index } = place;
      places.lastIndex = index + 1;
      const found = foundAt(text, index, root, effort);
      if (effort.left < 0) return `${shown}${text.slice(end, index)}…`;
      if (!found) continue;
      // Overlapping secrets are masked as one.
      if (index >= end) shown += text.slice(end, index) + show(found.secret);
      end = Math.max(end, found.end);
    }
    return end ? shown + text.slice(end) : text;
  };
}
