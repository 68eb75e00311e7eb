/*
 * What a receiver says in a response, whatever its framework. JSON, pages and text are read as a list of texts, with
 * the names around them. The text that looks most like a sentence about a problem counts.
 */

/** A text in a response. */
interface Said {
  text: string;
  /** The names around it, the outermost first: keys of JSON, elements and classes of a page. */
  names: readonly string[];
  /** The field of the request that it is about. */
  about?: string | undefined;
  /** The kind of error that it explains. */
  kind?: string | undefined;
  /** The name of the list that it is an item of, whose other items count, too; undefined if it stands alone. */
  list?: string | undefined;
}

/** A page may quote its whole source code, below the reason. */
const MAX_TEXTS = 150;
/** Nested deeper, no framework puts a message. */
const MAX_DEPTH = 12;
/** Characters of a sentence. Some frameworks name the fix at the end of a long one. */
const MAX_SENTENCE = 400;
/** Characters of a response without a sentence. */
const MAX_WHOLE = 200;
/** Sentences about several fields. */
const MAX_SENTENCES = 3;
/** Texts with fewer points are names and values. */
const MIN_POINTS = 3;

/** What a receiver says, on one line: a sentence, else the beginning of its response; undefined only for an empty body. */
export function ownWords(body: string): string | undefined {
  const texts = [];
  for (const said of textsOf(body.trim())) {
    if (texts.length === MAX_TEXTS) break;
    texts.push({ ...said, points: pointsOf(said) });
  }
  const most = Math.max(MIN_POINTS, ...texts.map(({ points }) => points));
  const likely = texts.filter(({ points }) => points === most);
  const best = likely.find(({ text }) => !saysNothing(text)) ?? likely[0];
  if (!best) {
    const shown = HAS_MARKUP.test(body.trim()) ? texts.map(({ text }) => text).join(' ') : '';
    return cut(onOneLine(shown) || onOneLine(body), MAX_WHOLE) || undefined;
  }
  const alike = texts.filter(
    (one) =>
      one === best ||
      (best.list !== undefined &&
        one.list === best.list &&
        one.points >= MIN_POINTS &&
        !saysNothing(one.text)),
  );
  const sentences = new Set(alike.map(sentenceOf));
  const shown = [...sentences].slice(0, MAX_SENTENCES).join('; ');
  return cut(sentences.size > MAX_SENTENCES ? `${shown}; …` : shown, MAX_SENTENCE);
}

/** Words in quotation marks, at the end of a sentence. */
export const quoted = (words: string): string => `“${words}”${/[.!?…]$/.test(words) ? '' : '.'}`;

/** Begins with the kind of error and the field, unless the text names them itself. */
function sentenceOf({ text, about = '', kind = '' }: Said): string {
  const isNamed = new RegExp(`(?<!\\w)${about.replace(/[$.[\]-]/g, '\\$&')}(?!\\w)`, 'i').test(text);
  return [kind === text ? '' : kind, isNamed ? '' : about, text].filter(Boolean).join(': ');
}

function* textsOf(body: string): Iterable<Said> {
  const json = jsonIn(body);
  if (json !== undefined) yield* textsOfJson(json, []);
  else if (/^[[{]/.test(body)) yield* textsOfBrokenJson(body);
  else if (HAS_MARKUP.test(body)) yield* textsOfMarkup(body);
  else for (const line of withoutTrace(body)) yield { text: onOneLine(line), names: [] };
}

/** The value of a JSON text; undefined for any other text. */
function jsonIn(text: string): unknown {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function* textsOfJson(
  value: unknown,
  names: readonly string[],
  said: Pick<Said, 'about' | 'kind'> = {},
  depth = 0,
): Iterable<Said> {
  if (depth > MAX_DEPTH) return;
  if (typeof value === 'string') {
    // Some libraries put a list of messages into one as text.
    const inner = /^[[{]/.test(value) ? jsonIn(value) : undefined;
    if (inner !== undefined) yield* textsOfJson(inner, names, said, depth + 1);
    else if (HAS_MARKUP.test(value)) yield* textsOfMarkup(value);
    else yield { ...said, text: sentenceIn(value), names, list: names.at(-1) ?? '' };
  }
  if (Array.isArray(value)) for (const one of value) yield* textsOfJson(one, names, said, depth + 1);
  else if (typeof value === 'object' && value !== null) {
    const own = fieldOf(value);
    for (const [name, one] of Object.entries(value)) {
      const isField = isFieldName(name, Array.isArray(one));
      const about = own ?? (isField ? name : said.about);
      const kind = SAYS.test(plainName(name)) ? kindOf(value) : undefined;
      yield* textsOfJson(one, isField ? names : [...names, name], { about, kind }, depth + 1);
    }
  }
}

/** The texts of JSON that is incomplete or invalid. */
function* textsOfBrokenJson(body: string): Iterable<Said> {
  for (const [, name = '', text = ''] of body.matchAll(/"([\w.-]{1,60})"\s*:\s*"((?:[^"\\]|\\.){1,400})"/g))
    yield { text: sentenceIn(text.replaceAll('\\n', ' ').replaceAll('\\', '')), names: [name], list: name };
}

/** The kind of the error that an object describes. */
function kindOf(object: object): string | undefined {
  const { exception, error, name } = object as Record<string, unknown>;
  const isKind = typeof name === 'string' && /(?:Error|Exception)$/.test(name);
  return [exception, error, isKind && name].find(
    (one): one is string => typeof one === 'string' && one.length <= 80,
  );
}

/** A name or a path of names. */
const IS_FIELD = /^[a-z][\w$.[\]-]{0,79}$/i;

/** The field that an object is about, by its members. */
function fieldOf(object: object): string | undefined {
  const members = object as Record<string, unknown>;
  const { source } = members;
  const named = [
    ...['loc', 'field', 'path', 'param', 'property', 'propertyPath', 'attribute', 'instancePath', 'name'].map(
      (name) => members[name],
    ),
    ...(typeof source === 'object' && source !== null ? Object.values(source) : []),
  ];
  for (const one of named) {
    const path = Array.isArray(one) ? one.join('.') : one;
    if (typeof path !== 'string') continue;
    // A JSON pointer.
    const pointed =
      one === members['path'] ? path : path.replace(/^\/(?:data\/attributes\/)?/, '').replaceAll('/', '.');
    // The place of a field in the request, and not the address of the request.
    const field = pointed.replace(/^(?:body|query|form|header)\./, '');
    if (IS_FIELD.test(field) && !/(?:Error|Exception)$|^(?:body|query|form)$/.test(field)) return field;
  }
  return undefined;
}

/** Whether a key names a field of the request that its value is about, and not what the value is. */
function isFieldName(name: string, isList: boolean): boolean {
  const plain = plainName(name);
  if (!IS_FIELD.test(name)) return false;
  if (SAYS.test(plain) || TELLS_PROBLEM.test(plain) || IS_NO_REASON.test(plain)) return false;
  return (
    isList ||
    !/^(?:data|results?|response|body|content|payload|output|code|status|state|string|value|item|entry|member|param)$/.test(
      plain,
    )
  );
}

/** A page, or a text with elements. */
const HAS_MARKUP = /^<[a-z!?]|<\/[a-z]|<br\b/i;
const INLINE = /^(?:a|abbr|b|cite|code|em|font|i|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var|wbr)$/i;

/** The texts of a page. */
function* textsOfMarkup(markup: string): Iterable<Said> {
  let names: string[] = [];
  let list: string | undefined;
  let unseen: string | undefined;
  let [text = '', ...pieces] = markup.split('<');
  for (const piece of pieces) {
    const end = piece.indexOf('>');
    const [, slash = '', name = ''] = /^(\/?)([a-z][\w.-]*)/i.exec(piece) ?? [];
    const [, comment] = /^!--([\s\S]*?)(?:-->|$)/.exec(piece) ?? [];
    if (comment !== undefined) yield { text: sentenceIn(decoded(comment)), names: [] };
    const after = end === -1 && name !== '' ? '' : piece.slice(end + 1);
    if (unseen !== undefined) {
      if (slash && name.toLowerCase() === unseen) unseen = undefined;
      continue;
    }
    if (name === '' || INLINE.test(name)) {
      text += after;
      continue;
    }
    // Only a line break: a stack trace may follow.
    if (/^br$/i.test(name)) {
      text += `\n${after}`;
      continue;
    }
    yield { text: sentenceIn(decoded(text)), names, list };
    if (/^(?:style|script|svg|template)$/i.test(name) && !slash) unseen = name.toLowerCase();
    text = unseen === undefined ? after : '';
    const attributes = [...piece.slice(0, Math.max(0, end)).matchAll(/([\w-]{1,40})=["']([^"']{0,200})/g)];
    const classes = attributes
      .filter(([, one]) => one === 'class' || one === 'id')
      .map(([, , value]) => value);
    names = slash ? [] : [/^h[1-3]$/i.test(name) ? 'title' : name, ...classes.join(' ').split(' ')];
    list = /^li$/i.test(name) ? name : undefined;
  }
  yield { text: sentenceIn(decoded(text)), names, list };
}

/** The line of a stack trace. */
const FRAME =
  /^\s*(?:at .*[(:]|#\d+ |File "|from \S+:\d+|\S+\.(?:rb|go|py|php|java|cs|[cm]?[jt]s):\d+|Stack trace:|Traceback \(|goroutine \d|Caused by:|\.\.\. \d+ more)/i;

/** The lines of a text without its stack trace. */
function withoutTrace(text: string): string[] {
  const lines = text.trim().split('\n');
  // Python prints it above the message.
  if (/^Traceback \(/.test(text.trim()))
    return lines.slice(lines.findLastIndex((line) => /^\s+\S/.test(line)) + 1);
  const frame = lines.findIndex((line, index) => index > 0 && FRAME.test(line));
  return frame === -1 ? lines : lines.slice(0, frame);
}

/** A text on one line, without its stack trace. */
const sentenceIn = (text: string): string => onOneLine(withoutTrace(text).join(' '));

/** White space as single spaces. */
export const onOneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

const cut = (text: string, max: number) => (text.length > max ? `${text.slice(0, max)}…` : text);

/** Letters of a name, in lower case. */
const plainName = (name: string) => name.replace(/[^a-z]/gi, '').toLowerCase();

/** Names of what explains something. */
const SAYS =
  /message|msg|exceptionvalue|detail|reason|descri|explan|fault(?!code)|cause|hint|info|note|text|what|why/;
/** Names of what is about a problem. */
const TELLS_PROBLEM = /error|exception|problem|issue|violation|invalid|fail|alert|warn|title|reject/;
/** Names of what surrounds a reason. */
const IS_NO_REASON =
  /trace|original|^(?:stack|path|ur[li]|href|links?|file|line|instance|time|timestamp|date|(?:request|correlation|event)?id|type|location|expected|received|input|(?:rejected)?value|context|request|headers?|cookies?|method|level|logger|thread|version|docs?|documentation\w*|example|meta|arguments|codes|footer|nav|frame|source|option|button|label|address|query|server)$/;

/** Words of a sentence about a problem. */
const ABOUT_PROBLEM =
  /error|exception|invalid|missing|mismatch|\b(?:bad|blank|cannot|denied|differs?|duplicate|empty|exceeds?|expected|expired|fail(?:ed|s|ure)?|forbidden|illegal|incorrect|may|must|never|no|not|null|only|refused|rejected|required?|should|too|unable|unauthori[sz]ed|undefined|unexpected|unknown|unsupported|wrong)\b|n['’]t\b/i;

/** What a framework says of any error. */
const SAYS_NOTHING =
  /^(?:(?:http|status|error)\W+)*(?:\d{3}\W*)?(?:an? )?(?:bad request|unauthori[sz]ed|forbidden|not found|conflict|gone|unprocessable (?:entity|content)|method not allowed|not acceptable|(?:request entity|payload|content) too large|too many requests|not implemented|page expired|internal server error(?: occurred)?|bad gateway|service unavailable|gateway time-?out|unsupported media type|word ?press\W+error|(?:\w+\W+)?error|fail(?:ed|ure)?)\W*(?:\(?\d{3}\)?)?\W*$|one or more validation errors|^the request is invalid\W*$|the given data was invalid|^(?:request )?validation (?:failed|error)\W*$|(?:error|exception) (?:has )?occurred|unexpected error|there was an error|something went wrong|no explicit mapping for|whitelabel error page|^page not found|^the browser .* could not understand\W*$|server cannot or will not process/i;

/** Whether words only repeat the status, or say no more than it. */
export const saysNothing = (words: string): boolean => SAYS_NOTHING.test(words);

/** A line of code, which debug pages show, or what introduces the next text. */
const LEADS_NOWHERE = /[;:{}]$|\w\([^()]*\)$|\s[!=]?==?\s/;

/** Addresses, paths, digests and ids. */
const IS_NO_SENTENCE = /^(?:[a-z]+:\/\/\S*|\/\S*|(?=\S*\d)\S{16,}|<[^<>]*>)$/i;

/** How much a text looks like the reason of a response. */
function pointsOf({ text, names }: Said): number {
  if (!/\p{L}{2}/u.test(text) || IS_NO_SENTENCE.test(text)) return 0;
  // A code such as INVALID_SIGNATURE or signatureMismatch says it in words, too.
  const words = text.replace(/[_-]+/g, ' ').replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  const around = names.map(plainName);
  const points = [
    Math.min(words.split(' ').length, text.includes(' ') ? 5 : 2),
    ABOUT_PROBLEM.test(words) ? 3 : 0,
    around.some((name) => SAYS.test(name)) ? 3 : 0,
    around.some((name) => TELLS_PROBLEM.test(name)) ? 2 : 0,
    saysNothing(words) ? -4 : 0,
    LEADS_NOWHERE.test(text) ? -4 : 0,
    around.some((name) => IS_NO_REASON.test(name)) ? -8 : 0,
    around.at(-1) === 'code' ? -2 : 0,
  ];
  return points.reduce((sum, one) => sum + one);
}

/** What a whole page shows, line by line; undefined for another body. Its style, scripts and stack traces are left out. */
export function linesOfPage(body: string): string[] | undefined {
  if (!/^\s*<(?:!doctype|html|head|!--)/i.test(body)) return undefined;
  return [...textsOfMarkup(body.trim())].map(({ text }) => text).filter(Boolean);
}

/** The text of a page without its tags. */
export function plainText(html: string): string {
  return decoded(html.replaceAll('<!--', '').replace(/<[^<>]*>/g, ''));
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  rsquo: '’',
  amp: '&',
};

function decoded(text: string): string {
  return text.replace(/&(?:#(x?)([0-9a-f]{1,6})|(\w{2,8}));/gi, (whole, hex, digits, name) => {
    if (name !== undefined) return ENTITIES[name] ?? ' ';
    const code = Number.parseInt(digits, hex ? 16 : 10);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
