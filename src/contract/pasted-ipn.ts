/*
 * Texts that users paste to check an IPN: its body, or something that contains it.
 */

/** Whether a text is the id of an IPN of the emulator. No body looks like one. */
export const isDeliveryId = (text: string): boolean => /^ipn_\w+$/.test(text.trim());

/** The body of the last IPN in a pasted text; the text itself if it is only a body. */
export function ipnBodyIn(pasted: string): string {
  const text = withoutEnd(pasted.replace(/^[\r\n]+/, ''));
  for (const read of [listened, recorded, httpRequest, curl, prettyForm]) {
    const body = read(text);
    if (body !== undefined) return body;
  }
  return text;
}

/** The marks around a body in the output of `ipn listen`. */
export const LISTENED = { arrow: '-->', valid: 'valid', invalid: 'not valid' } as const;

/** The output of `ipn listen`: a line with an arrow, the body, the verdict. */
function listened(text: string): string | undefined {
  const { arrow, valid, invalid } = LISTENED;
  const lines = text.split('\n');
  const begin = lines.findLastIndex((line) => line.startsWith(`${arrow} `)) + 1;
  if (!begin) return undefined;
  const isVerdict = (line: string) => line.trimEnd() === valid || line.trimEnd() === invalid;
  const end = lines.findIndex((line, index) => index >= begin && isVerdict(line));
  return withoutEnd(lines.slice(begin, end < 0 ? undefined : end).join('\n'));
}

/** Removes trailing line breaks. Each run of line breaks is tried only once, because a text can have very many. */
function withoutEnd(text: string): string {
  return text.replace(/(?<![\r\n])[\r\n]+$/, '');
}

/** A line of `ipn listen --json`, or a delivery: an object with the body as text. */
function recorded(text: string): string | undefined {
  const lines = text.split(/\r?\n/).filter(Boolean);
  for (const candidate of [text, lines.at(-1) ?? '']) {
    if (!candidate.startsWith('{')) continue;
    const { body, signature } = objectIn(candidate);
    if (typeof body === 'string' && signature === undefined) return body;
  }
  return undefined;
}

function objectIn(json: string): { body?: unknown; signature?: unknown } {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function httpRequest(text: string): string | undefined {
  return /^[A-Z]+ \S+ HTTP\/[\d.]+\r?\n(?:[^\r\n]+\r?\n)*\r?\n(.*)$/s.exec(text)?.[1];
}

function curl(text: string): string | undefined {
  if (!/^curl\s/.test(text)) return undefined;
  const quoted = /\s(?:-d|--data(?:-raw|-binary)?) '((?:[^']|'\\'')*)'/.exec(text)?.[1];
  return quoted?.replaceAll("'\\''", "'");
}

/** A form as the pages of the emulator show it, one decoded field per line. */
function prettyForm(text: string): string | undefined {
  const lines = text.split(/\r?\n/);
  const fields = lines.flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = /^([\w.[\]-]+) = (.*)$/.exec(line) ?? [];
    return name ? [[name, value]] : [];
  });
  return fields.length === lines.length ? new URLSearchParams(fields).toString() : undefined;
}
