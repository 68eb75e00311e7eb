/*
 * Texts that users paste to check an IPN: its body, or something that contains it.
 */

/** Whether a text is the id of an IPN of the emulator. No body looks like one. */
export const isDeliveryId = (text: string): boolean => /^ipn_\w+$/.test(text.trim());

/** The body of an IPN in a pasted text: in a curl command, or as PHP's print_r or var_dump show its fields. Else the text. */
export function ipnBodyIn(pasted: string): string {
  // Each run of line breaks is tried only once, because a text can have very many.
  const text = pasted.replace(/^[\uFEFF\r\n]+/, '').replace(/(?<![\r\n])[\r\n]+$/, '');
  return curlData(text) ?? dumpedForm(text) ?? text;
}

/** The data that a curl command sends. */
function curlData(text: string): string | undefined {
  if (!/^curl\s/.test(text)) return undefined;
  const words =
    text.replace(/\\\r?\n/g, ' ').match(/(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\.|[^\s'"\\])+/g) ?? [];
  const data = words.filter((_, index) => /^(?:-d|--data(?:-\w+)?)$/.test(words[index - 1] ?? ''));
  return data.length ? data.map(valueOfWord).join('&') : undefined;
}

/** The value of a word of a shell command. */
function valueOfWord(word: string): string {
  return word.replace(
    /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\(.)/g,
    (_, single?: string, double?: string, character = '') =>
      single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? character,
  );
}

/** Longer texts and deeper arrays are not read. */
const MAX_CHARACTERS = 65_536;
const MAX_DEPTH = 40;

/** The fields of the last IPN that PHP printed, as a form. */
function dumpedForm(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const arrays = [...arraysOfPrintR(text), ...arraysOfVarDump(text)];
  const ipn = arrays.findLast((fields) => fields.has('signature') || fields.has('identifier'));
  return ipn && formOf(ipn).toString();
}

/** The fields of an array that PHP printed. */
interface Fields extends Map<string, string | Fields> {}

function formOf(fields: Fields, prefix = '', form = new URLSearchParams()): URLSearchParams {
  for (const [name, value] of fields) {
    const key = prefix ? `${prefix}[${name}]` : name;
    if (typeof value === 'string') form.append(key, value);
    else formOf(value, key, form);
  }
  return form;
}

/** The arrays that are being read. */
class Arrays {
  /** All arrays, in the order in which they begin. The first one has the fields outside of any other. */
  readonly all: Fields[] = [new Map()];
  readonly #open = [...this.all];

  set(name: string, value: string | Fields): void {
    this.#open.at(-1)?.set(name, value);
  }

  begin(name = ''): void {
    const inner: Fields = new Map();
    if (name && this.#open.length < MAX_DEPTH) this.set(name, inner);
    this.#open.push(inner);
    this.all.push(inner);
  }

  end(): void {
    if (this.#open.length > 1) this.#open.pop();
  }
}

/** `[name] => value`, one a line and without quotes. An array is in parentheses below its name. */
function arraysOfPrintR(text: string): Fields[] {
  const arrays = new Arrays();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ''] = /^\s*\[(.+?)\] => (.*)$/.exec(line) ?? [];
    if (name === undefined) {
      if (/\bArray$/.test(line.trimEnd())) arrays.begin();
      else if (line.trim() === ')') arrays.end();
    } else if (/^(?:Array|\S+ Object)$/.test(value.trimEnd())) arrays.begin(name);
    else arrays.set(name, value);
  }
  return arrays.all;
}

/** A token of var_dump, also as Xdebug writes it, with names in single quotes. */
const DUMPED =
  /\["(?<name>[^"\n]{0,200})"\]=>|'(?<quoted>[^'\n]{0,200})' =>|\[(?<index>\d{1,9})\]=>|string\((?<bytes>\d{1,9})\) "|(?:int|float)\((?<number>[^)\n]{0,40})\)|(?<opens>\{)|(?<closes>\})/g;

/** `["name"]=> string(5) "value"`. Quotes in a value are not escaped, but its bytes are counted. */
function arraysOfVarDump(text: string): Fields[] {
  const arrays = new Arrays();
  let name: string | undefined;
  DUMPED.lastIndex = 0;
  for (let token = DUMPED.exec(text); token; token = DUMPED.exec(text)) {
    const { bytes, number, opens, closes, ...names } = token.groups ?? {};
    if (opens !== undefined) arrays.begin(name);
    if (closes !== undefined) arrays.end();
    if (name !== undefined && number !== undefined) arrays.set(name, number);
    if (bytes !== undefined) {
      const from = DUMPED.lastIndex;
      const length = Number(bytes);
      const value = Buffer.from(text.slice(from, from + length))
        .subarray(0, length)
        .toString();
      if (name !== undefined) arrays.set(name, value);
      DUMPED.lastIndex = from + value.length + 1;
    }
    name = names['name'] ?? names['quoted'] ?? names['index'];
  }
  return arrays.all;
}
