/** Whether two secrets are the same, in a time that tells nothing about where they differ. */
export function sameSecret(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let index = 0; index < given.length; index++) {
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}

/** A secret as it may be shown: enough to tell it from others. */
export function masked(secret: string): string {
  return secret.length > 12 ? `${secret.slice(0, 8)}…${secret.slice(-2)}` : '…';
}

/** A shorter secret, such as `test`, stands in much that is none: masking it would garble every record. */
const SHORTEST_MASKED = 6;
/** The beginning of a secret counts as the secret from so many characters on: texts are cut off. */
const TELLING_PART = 16;
/** So many characters are looked for in a text; only where they stand the whole secret is. */
const SOUGHT_PART = 4;

/** Characters compared for each of a text: about one where it is full of secrets, many only in a text made for that. */
const EFFORT_PER_CHARACTER = 2;
const LEAST_EFFORT = 10_000;

const ESCAPED_IN_HTML: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": '#39',
};

/** The ways to write a character, as patterns: as it is, escaped, percent-encoded, escaped in JSON or in HTML. */
export function waysToWrite(character: string): string[] {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const html = ESCAPED_IN_HTML[character];
  const plain = character.replace(/[^A-Za-z0-9]/, '\\$&');
  const always = [plain, `\\\\${plain}`, `%${anyCase}`, `\\\\u00${anyCase}`];
  return html === undefined ? always : [...always, `&${html};`];
}

/**
 * Some characters of secrets, and what may come next. All secrets are one tree: a pattern for the whole of one takes
 * 170 KB of memory.
 */
interface Branch {
  next: Map<string, { ways: RegExp[]; branch: Branch }>;
  /** The secret that so much of it tells; undefined where it is too little. */
  secret: string | undefined;
}

/** @param secrets of those with the same beginning the first is told by it */
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
      if (index + 1 >= Math.min(TELLING_PART, characters.length)) branch.secret ??= secret;
    }
  }
  return root;
}

/** Where a text goes on behind a character that is written at a place in one of the ways. */
function endsOf(ways: readonly RegExp[], text: string, at: number): number[] {
  return ways.flatMap((way) => {
    way.lastIndex = at;
    return way.test(text) ? [way.lastIndex] : [];
  });
}

/**
 * The longest part of a secret that stands at a place and tells it, and where the text goes on.
 *
 * @param effort what may still be done for this text, in characters compared; below 0 nothing more is
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
 * Masks secrets in texts, however they are written there; a text without any comes back as it is. Of one that is made
 * to take long, such as the same letter again and again where a secret is made of it, the rest is left out.
 *
 * @param show what stands for a secret
 * @param waysOf how each character of it may be written
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
  const beginnings = new Set(sought.map((secret) => secret.slice(0, SOUGHT_PART)));
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
      // One that begins within another, and goes on behind it, is hidden with that.
      if (index >= end) shown += text.slice(end, index) + show(found.secret);
      end = Math.max(end, found.end);
    }
    return end ? shown + text.slice(end) : text;
  };
}
