import { IPN_NAMES } from '../service/names.ts';

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

/** Longer texts are not read. */
const MAX_CHARACTERS = 65_536;

/** The last part of a name, which is all that PHP prints beside a value of a nested field. */
const lastPart = (name: string) => /\w+(?=\]?$)/.exec(name)?.[0] ?? name;

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.values(IPN_NAMES).map((name) => [lastPart(name), name]),
);

/** A name, and its value or what introduces it: as print_r and var_dump write them, the latter also with Xdebug. */
const PRINTED =
  /^[ \t]*\[(?<printed>.{1,200}?)\] => (?<line>[^\r\n]*)|(?:\["(?<dumped>[^"\n]{1,200})"\]|'(?<quoted>[^'\n]{1,200})' )=>\s{0,99}(?:string\((?<bytes>\d{1,9})\) "|(?:int|float)\((?<number>[^)\n]{0,40})\))/gm;

/** The fields of the last IPN that PHP printed, as a form. */
function dumpedForm(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const found = [new Map<string, string>()];
  PRINTED.lastIndex = 0;
  for (let token = PRINTED.exec(text); token; token = PRINTED.exec(text)) {
    const { printed, dumped, quoted, line, bytes, number } = token.groups ?? {};
    let value = line ?? number ?? '';
    if (bytes !== undefined) {
      // Quotes in a value are not escaped, but its bytes are counted.
      const [from, length] = [PRINTED.lastIndex, Number(bytes)];
      value = Buffer.from(text.slice(from, from + length))
        .subarray(0, length)
        .toString();
      PRINTED.lastIndex = from + value.length;
    }
    const name = NAMES.get(lastPart(printed ?? dumped ?? quoted ?? ''));
    if (name === undefined) continue;
    // A log may have several IPNs, and a request another field with that name.
    if (found.at(-1)?.has(name)) found.push(new Map());
    found.at(-1)?.set(name, value);
  }
  const ipn = found.findLast((fields) => fields.has('signature') || fields.has('identifier'));
  return ipn && new URLSearchParams([...ipn]).toString();
}
