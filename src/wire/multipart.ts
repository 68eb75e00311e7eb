import { GatewayError } from '../contract/error.ts';
import { MAX_FIELDS, tooManyFields } from './field-limit.ts';
import { RecentPieces, withoutRest } from './recent.ts';

/*
 * Our own parser: libraries are made for streams of files, and take three times as long as the rest of an initiate.
 * Here the body is small and complete, and only its text fields matter.
 */

type Field = readonly [name: string, value: string];

/**
 * The text fields of a multipart/form-data body, in order. Files are ignored.
 *
 * @param body the whole body
 * @param contentType the Content-Type header, which names the boundary
 * @throws GatewayError `unparseable_body`, with the problem, or `body_too_large`
 */
export function parseMultipart(body: Buffer, contentType: string): Field[] {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed('its Content-Type names no boundary');
  // One character per byte: the structure is ASCII, and values are decoded one by one. The leading line break makes a
  // boundary at the start look like any other.
  const text = `\r\n${body.toString('latin1')}`;
  const separator = `\r\n--${boundary}`;
  const fields: Field[] = [];
  let at = boundaryEnd(text, separator, 0, 'it does not contain its boundary');
  for (let part = 0; !text.startsWith('--', at); part++) {
    if (part === MAX_FIELDS) throw tooManyFields('a form');
    const from = text.indexOf('\r\n', at);
    const headersEnd = text.indexOf(HEADERS_END, from);
    if (headersEnd === -1) throw malformed('it ends in the headers of a part');
    // From the second line break, which for an empty value is also the one before the boundary.
    const next = boundaryEnd(text, separator, headersEnd + 2, 'it ends before its last boundary');
    const to = Math.max(headersEnd + HEADERS_END.length, next - separator.length);
    const field = FIELDS.read(part, text.slice(from, to));
    if (field) fields.push(field);
    at = next;
  }
  return fields;
}

const HEADERS_END = '\r\n\r\n';

/** The field in a part, which begins after its boundary; undefined for a file. */
const FIELDS = new RecentPieces((part): Field | undefined => {
  const headersEnd = part.indexOf(HEADERS_END);
  const name = fieldName(part.slice(0, headersEnd));
  const value = part.slice(headersEnd + HEADERS_END.length);
  return name === undefined ? undefined : [decoded(name), decoded(value)];
});

/** The index after the next boundary. A boundary is followed by `--` or ends its line. Anything else is data. */
function boundaryEnd(text: string, separator: string, from: number, missing: string): number {
  for (let found = text.indexOf(separator, from); found !== -1; found = text.indexOf(separator, found + 1)) {
    const end = found + separator.length;
    const isLast = text.startsWith('--', end);
    if (isLast || text.startsWith('\r\n', end) || /^[ \t]+\r\n/.test(text.slice(end, end + 80))) return end;
  }
  throw malformed(missing);
}

/** The name of a text field; undefined for a file. */
function fieldName(headers: string): string | undefined {
  const disposition = /^content-disposition:\s*form-data\s*(;.*)$/im.exec(headers)?.[1];
  if (disposition === undefined) throw malformed('a part has no Content-Disposition: form-data');
  if (/;\s*filename\*?=/i.test(disposition)) return undefined;
  const [, quoted, plain] = /;\s*name=(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))/i.exec(disposition) ?? [];
  const name = quoted?.replace(/\\(.)/g, '$1') ?? plain;
  if (name === undefined) throw malformed('a part has no name');
  return name;
}

/** Bytes as UTF-8 text. */
function decoded(bytes: string): string {
  return /[\u0080-\u00ff]/.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : withoutRest(bytes);
}

function malformed(why: string): GatewayError {
  return new GatewayError('unparseable_body', `the body is not valid multipart/form-data: ${why}`);
}
