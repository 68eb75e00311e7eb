/*
 * Texts that users paste to check an IPN: its body, or something that contains it.
 */

/** Whether a text is the id of an IPN of the emulator. No body looks like one. */
export const isDeliveryId = (text: string): boolean => /^ipn_\w+$/.test(text.trim());

/** The body of the last IPN in a pasted text; the text itself if it is only a body. */
export function ipnBodyIn(pasted: string): string {
  const text = withoutEnd(pasted.replace(/^[\r\n]+/, ''));
  return curl(text) ?? prettyForm(text) ?? httpRequest(text) ?? lastBody(text) ?? text;
}

/** Removes trailing line breaks. Each run of line breaks is tried only once, because a text can have very many. */
function withoutEnd(text: string): string {
  return text.replace(/(?<![\r\n])[\r\n]+$/, '');
}

/** A form, which has no spaces. */
const FORM = /^[^\s=&]+=[^\s]*$/;

/**
 * The last line that is a form or a JSON object, such as in the output of `ipn listen`. An object with the body as text
 * is a line of `ipn listen --json`, or a delivery.
 */
function lastBody(text: string): string | undefined {
  for (const line of [text, ...text.split(/\r?\n/).reverse()]) {
    const json = objectIn(line);
    if (typeof json?.body === 'string' && json.signature === undefined) return json.body;
    if (json || FORM.test(line)) return line;
  }
  return undefined;
}

function objectIn(text: string): { body?: unknown; signature?: unknown } | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A raw HTTP request. */
function httpRequest(text: string): string | undefined {
  return /^[A-Z]+ \S+ HTTP\/[\d.]+\r?\n(?:[^\r\n]+\r?\n)*\r?\n(.*)$/s.exec(text)?.[1];
}

/** The data of a curl command, quoted for a shell. */
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
