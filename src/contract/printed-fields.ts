/*
 * Fields as programs print them: PHP's var_dump, print_r, var_export and dd, Node's console.log, the dictionaries of
 * Python, Ruby, Elixir and Perl, and the maps of Go and Java.
 */

/** A printed value: a text, or a group of entries (of a dictionary) and items (of a list). */
type Printed = string | Group;
interface Group {
  entries: [name: string, value: Printed][];
  items: Printed[];
}

/** Longer texts and deeper values are not read. */
const MAX_CHARACTERS = 65_536;
const MAX_DEPTH = 40;

/**
 * The fields of an IPN in printed values, as a form.
 *
 * @returns undefined if none of the known forms contains the fields of an IPN
 */
export function printedForm(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  for (const read of [linesOfPrintR, mapOfGo, mapOfJava, literals]) {
    const group = read(text);
    const fields = group && ipnIn(group);
    if (fields) return formOf(fields).toString();
  }
  return undefined;
}

/** The entries of a group. A list of pairs, such as `[('status', 'success'), …]`, is a dictionary, too. */
function entriesOf({ entries, items }: Group): Group['entries'] {
  const pairs = items.flatMap((item): Group['entries'] => {
    if (typeof item === 'string' || item.entries.length) return [];
    const [name, value, more] = item.items;
    return typeof name === 'string' && value !== undefined && more === undefined ? [[name, value]] : [];
  });
  return [...entries, ...pairs];
}

/** The last group that has the fields of an IPN, at any depth. */
function ipnIn(group: Group): Group['entries'] | undefined {
  const entries = entriesOf(group);
  const isIpn = entries.some(([name]) => name === 'signature' || name === 'identifier');
  if (isIpn) return entries;
  const inside = [...group.items, ...entries.map(([, value]) => value)].reverse();
  for (const value of inside) {
    const found = typeof value === 'string' ? undefined : ipnIn(value);
    if (found) return found;
  }
  return undefined;
}

function formOf(entries: Group['entries'], prefix = '', form = new URLSearchParams()): URLSearchParams {
  for (const [name, value] of entries) {
    const key = prefix ? `${prefix}[${name}]` : name;
    const single = singleOf(value);
    if (typeof single === 'string') form.append(key, single);
    else formOf(entriesOf(single), key, form);
  }
  return form;
}

/** A value without the list around it: of a list of values, the last one counts. */
function singleOf(value: Printed): Printed {
  if (typeof value === 'string' || entriesOf(value).length) return value;
  const last = value.items.at(-1);
  return last === undefined ? '' : singleOf(last);
}

/** PHP's print_r: `[name] => value`, one a line, without quotes. A group is in parentheses below its name. */
function linesOfPrintR(text: string): Group | undefined {
  const top: Group = { entries: [], items: [] };
  const open = [top];
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ''] = /^\s*\[(.+)\] => (.*)$/.exec(line) ?? [];
    if (name === undefined) {
      if (/^\s*\)\s*$/.test(line) && open.length > 1) open.pop();
      continue;
    }
    const isGroup = /^(?:Array|\S+ Object)\s*$/.test(value);
    const inner: Group = { entries: [], items: [] };
    open.at(-1)?.entries.push([name, isGroup ? inner : value]);
    if (isGroup) open.push(inner);
    if (open.length > MAX_DEPTH) return undefined;
  }
  return top.entries.length ? top : undefined;
}

/** Go's url.Values: `map[data[amount]:[49.90] status:[success]]`. */
function mapOfGo(text: string): Group | undefined {
  const from = text.indexOf('map[');
  if (from < 0) return undefined;
  const inside = text.slice(from + 'map['.length, text.lastIndexOf(']'));
  return withEntries(inside.matchAll(/(?<![^\s:])([^\s:]+):(?:\[([^\]]{0,2000})\]|(\S*))/g));
}

/** Java's maps: `{status=success, data[amount]=[49.90]}`. */
function mapOfJava(text: string): Group | undefined {
  const [, inside] = /\{([^{}'"=]+=[^{}]*)\}/.exec(text) ?? [];
  return inside === undefined
    ? undefined
    : withEntries(inside.matchAll(/(?<![^\s=,])([^\s=,]+)=(?:\[([^\]]{0,2000})\]|([^,]*))/g));
}

function withEntries(matches: Iterable<RegExpExecArray>): Group {
  const entries = [...matches].map(([, name = '', listed, single = '']): [string, string] => [
    name,
    listed ?? single,
  ]);
  return { entries, items: [] };
}

/**
 * A token of a literal. Everything else, such as `%`, `<` and `▼`, has no meaning here. PHP's var_dump escapes nothing,
 * but counts the bytes.
 */
const TOKEN =
  /string\((?<bytes>\d+)\)\s*"|(?<quoted>"(?:\\[\s\S]|[^"\\]){0,1024}"|'(?:\\[\s\S]|[^'\\]){0,1024}'|`(?:\\[\s\S]|[^`\\]){0,1024}`)|(?<relates>=>|[:=])|(?<opens>[{[(])|(?<closes>[}\])])|(?<ends>[,;])|array:\d+|(?<word>[\w$#\\.+-]+(?:::\w+)*)/g;

/**
 * Literals of any language: `'status' => 'success'`, `status: "success"`. Of several values in a row, such as
 * `array:2 […]` or `[Object: null prototype] {…}`, the last group counts.
 */
function literals(text: string): Group | undefined {
  const open = [new Level()];
  const top = open[0];
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text); token; token = TOKEN.exec(text)) {
    const { bytes, quoted, relates, opens, closes, ends, word } = token.groups ?? {};
    const level = open.at(-1) ?? new Level();
    if (bytes !== undefined) {
      const from = TOKEN.lastIndex;
      const length = Number(bytes);
      const counted = Buffer.from(text.slice(from, from + length))
        .subarray(0, length)
        .toString();
      level.add(counted);
      TOKEN.lastIndex = from + counted.length + 1;
    } else if (quoted !== undefined) level.add(unquoted(quoted));
    else if (word !== undefined) level.add(word);
    else if (relates !== undefined) level.name();
    else if (ends !== undefined) level.end();
    else if (opens !== undefined) {
      const inner = new Level();
      level.add(inner.group);
      open.push(inner);
      if (open.length > MAX_DEPTH) return undefined;
    } else if (closes !== undefined && open.length > 1) open.pop()?.end();
  }
  for (const level of open) level.end();
  return top?.group;
}

/** A group that is being read. */
class Level {
  readonly group: Group = { entries: [], items: [] };
  /** The values since the last separator. */
  #values: Printed[] = [];
  #name: string | undefined;

  add(value: Printed): void {
    this.#values.push(value);
  }

  /** The last value is a name. The ones before it end an entry: var_dump and dd separate entries by line breaks. */
  name(): void {
    const written = this.#values.pop();
    this.end();
    const name = written === undefined ? undefined : singleOf(written);
    this.#name = typeof name === 'string' ? name : undefined;
  }

  /** Ends an entry or an item. Words around a group, such as those of a log line, do not count. */
  end(): void {
    const groups = this.#values.filter((value) => typeof value !== 'string');
    const value = groups.at(-1) ?? this.#values.at(-1);
    if (value !== undefined) {
      if (this.#name === undefined) this.group.items.push(value);
      else this.group.entries.push([this.#name, value]);
    }
    this.#values = [];
    this.#name = undefined;
  }
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** The text of a quoted literal. */
export function unquoted(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:x([\da-f]{2})|u([\da-f]{4})|([\s\S]))/gi, (_, byte, unit, character: string) =>
      character === undefined
        ? String.fromCharCode(Number.parseInt(byte ?? unit, 16))
        : (ESCAPED[character] ?? character),
    );
}

/** How programs print a request, and how to get the raw body there. */
const PRINTED: readonly (readonly [pattern: RegExp, what: string, rawBody: string])[] = [
  [/\[object Object\]/, 'what JavaScript makes of any object', 'print JSON.stringify(req.body)'],
  [
    /\[Object\b|\b(?:URLSearchParams|FormData|IncomingMessage|Map\(\d+\)) \{/,
    "the output of Node's console.log",
    'print JSON.stringify(req.body)',
  ],
  [
    /^[^\w\n]*array(?::\d+ \[|\s*\()|^[ \t]*Array\b|\[▶|\bIlluminate\\|=>\s*string\(|\((?:size|length)=\d+\)/m,
    'the output of a PHP function',
    "print file_get_contents('php://input'), in Laravel $request->getContent()",
  ],
  [
    /\b(?:Query|Multi|Ordered)Dict|FormData\(\[|\bFieldStorage\(|^\s*\{'|^\s*b['"]/,
    'a Python object',
    'print await request.body() in FastAPI, request.body in Django, request.get_data() in Flask',
  ],
  [/\bmap\[|\burl\.Values\b/, 'a Go map', 'print the bytes of io.ReadAll(r.Body)'],
  [/\bActionController\b|=>/, 'a Ruby hash', 'print request.raw_post'],
  [/\[Ljava\.|^\s*\{[\w[\]]+=/, 'a Java map', 'print the text of request.getReader()'],
];

/** Why an IPN in the output of a program is incomplete: what it is, and how to get the raw body. */
export function printedProblem(text: string): string | undefined {
  const found = PRINTED.find(([pattern]) => pattern.test(text));
  if (!found) return undefined;
  const [, what, rawBody] = found;
  return `this is ${what}, which does not show all fields. Check the raw body: ${rawBody}`;
}
