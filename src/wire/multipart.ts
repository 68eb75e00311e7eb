import { GatewayError } from '../contract/error.ts';
import { MAX_FIELDS, tooManyFields } from './field-limit.ts';
import { RecentPieces, withoutRest } from './recent.ts';

/*
 * Our own, although there are libraries: they read streams of files, and cost three times as much as all the rest of
 * an initiate. Here the body is small and whole, and only its text fields matter.
 */

/**
 * The text fields of a multipart/form-data body, in order; files are passed over.
 *
 * @param body the whole body
 * @param contentType the Content-Type header, which names the boundary
 * @throws GatewayError `unparseable_body`, saying what is wrong with it, or `body_too_large`
 */
export function parseMultipart(body: Buffer, contentType: string): Fields {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed('its Content-Type names no boundary');
  return parsePlain(body, boundary) ?? parseAny(body, boundary);
}

type Field = readonly [name: string, value: string];
type Fields = Field[];

/** A part with a text field, with no more said of it than its name. */
const PLAIN_PART = /^\r\nContent-Disposition: form-data; name="(\w+)"\r\n\r\n([\s\S]*)\r\n$/;

/**
 * As `parseAny`, in a quarter of the time, of a body as published clients write it: plain parts and nothing else.
 * Undefined for any other.
 */
export function parsePlain(body: Buffer, boundary: string): Fields | undefined {
  const [preamble, ...parts] = body.toString('latin1').split(`--${boundary}`, MAX_FIELDS + 3);
  if (preamble !== '' || !parts.pop()?.startsWith('--') || parts.length > MAX_FIELDS) return undefined;
  const fields: Fields = [];
  for (const part of parts) {
    const field = PLAIN_FIELDS.read(fields.length, part);
    if (!field) return undefined;
    fields.push(field);
  }
  return fields;
}

const PLAIN_FIELDS = new RecentPieces((part): Field | undefined => {
  const [, name, value] = PLAIN_PART.exec(part) ?? [];
  return name === undefined || value === undefined ? undefined : [withoutRest(name), decoded(value)];
});

/** The text fields of any body. */
export function parseAny(body: Buffer, boundary: string): Fields {
  // One character a byte: the structure is ASCII, and values are decoded one by one. The line break in front makes a
  // boundary at the very start look like any other.
  const text = `\r\n${body.toString('latin1')}`;
  const separator = `\r\n--${boundary}`;
  const fields: Fields = [];
  let at = boundaryEnd(text, separator, 0, 'its boundary does not occur');
  for (let part = 0; !text.startsWith('--', at); part++) {
    if (part === MAX_FIELDS) throw tooManyFields('a form');
    const headersFrom = text.indexOf('\r\n', at) + 2;
    const headersEnd = text.indexOf('\r\n\r\n', headersFrom - 2);
    if (headersEnd === -1) throw malformed('it ends in the headers of a part');
    const valueFrom = headersEnd + 4;
    // From two bytes before: an empty value shares its line break with the headers.
    const next = boundaryEnd(text, separator, valueFrom - 2, 'it ends before its last boundary');
    const name = fieldName(text.slice(headersFrom, headersEnd));
    const valueTo = Math.max(valueFrom, next - separator.length);
    if (name !== undefined) fields.push([decoded(name), decoded(text.slice(valueFrom, valueTo))]);
    at = next;
  }
  return fields;
}

/** The index behind the next boundary: one that is followed by `--` or ends its line. Anything else is data. */
function boundaryEnd(text: string, separator: string, from: number, missing: string): number {
  for (let found = text.indexOf(separator, from); found !== -1; found = text.indexOf(separator, found + 1)) {
    const end = found + separator.length;
    if (/^(?:--|[ \t]*\r\n)/.test(text.slice(end, end + 80))) return end;
  }
  throw malformed(missing);
}

/** The name of a text field; undefined for a file, which is no field of this interface. */
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
