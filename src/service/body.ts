import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '../contract/error.ts';
import { parseJsonObject } from '../contract/json-body.ts';
import { FORM_TYPE, JSON_TYPE } from '../contract/media-types.ts';

/** Maximum number of fields in a form or a JSON object. No client of this interface sends nearly as many. */
const MAX_FIELDS = 1_000;

function tooManyFields(what: string): GatewayError {
  return new GatewayError('body_too_large', `${what} must have at most ${MAX_FIELDS} fields`);
}

/** The fields of a posted body as one object. */
export interface PostedFields {
  fields: Record<string, unknown>;
  /** The source text, for the request log and to read numbers as written. */
  text: string;
}

type FieldReader = (body: Buffer, contentType: string) => PostedFields;

/** The reader for each media type. Forms: documented; JSON: observed. */
const READERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  [FORM_TYPE, parseForm],
  ['multipart/form-data', parseMultipart],
  [JSON_TYPE, parseJson],
]);
const JSON_READER: ReadonlyMap<string, FieldReader> = new Map([[JSON_TYPE, parseJson]]);

/**
 * Returns the reader for a media type: a form (URL-encoded or multipart) or a JSON object. If a field is repeated,
 * its last value counts. The reader throws `unparseable_body` and `body_too_large`.
 *
 * @throws GatewayError `unsupported_media_type`
 */
export function fieldReader(contentType: string, jsonOnly = false): FieldReader {
  const readers = jsonOnly ? JSON_READER : READERS;
  const [written = ''] = contentType.split(';', 1);
  const type = readers.has(written) ? written : written.trim().toLowerCase();
  // Only JSON can be meant.
  const reader = jsonOnly && type === '' ? parseJson : readers.get(type);
  if (reader) return reader;
  const got = type ? `"${type.slice(0, 80)}"` : 'none';
  throw new GatewayError(
    'unsupported_media_type',
    `Content-Type must be ${[...readers.keys()].join(' or ')} (got ${got})`,
  );
}

/** A value whose bytes are not text. A field with it is rejected with the problem, which does not name the field. */
export class Unreadable {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/** Decodes the bytes of a value. */
type Decode = (bytes: Buffer) => string | Unreadable;

/** The charset that a Content-Type states; null for UTF-8, the default. */
function charsetOf(contentType: string): string | null {
  const [, label] = /;\s*charset="?([^\s";]{1,40})/i.exec(contentType) ?? [];
  return label === undefined || /^utf-?8$/i.test(label) ? null : label;
}

/** @throws GatewayError `unsupported_media_type` for an unknown charset */
function decoderOf(charset: string | null): Decode {
  if (charset === null) return (bytes) => (isUtf8(bytes) ? bytes.toString('utf8') : notUtf8(bytes));
  try {
    const decoder = new TextDecoder(charset);
    return (bytes) => decoder.decode(bytes);
  } catch (error) {
    throw new GatewayError('unsupported_media_type', `unknown charset "${charset}": send UTF-8`, {
      cause: error,
    });
  }
}

function notUtf8(bytes: Buffer): Unreadable {
  return new Unreadable(
    `has ${firstInvalidByte(bytes)}, which is not UTF-8: send UTF-8, or state the charset in Content-Type`,
  );
}

function firstInvalidByte(bytes: Buffer): string {
  const valid = Buffer.from(bytes.toString('utf8'));
  const at = bytes.findIndex((byte, index) => byte !== valid[index]);
  return `the byte 0x${bytes[at]?.toString(16).toUpperCase()} at position ${at + 1}`;
}

/** A body as text for the request log. Bytes that are not UTF-8 are shown as in Latin-1. */
const logged = (body: Buffer) => body.toString(isUtf8(body) ? 'utf8' : 'latin1');

/** Reads a form as PHP does, except that bytes which are not text are reported. */
function parseForm(body: Buffer, contentType: string): PostedFields {
  const charset = charsetOf(contentType);
  const decode = decoderOf(charset);
  const isPlain = charset === null && isAscii(body);
  // One character per byte: the structure is ASCII.
  const text = body.toString('latin1');
  const pairs = text.split('&', MAX_FIELDS + 1);
  if (pairs.length > MAX_FIELDS) throw tooManyFields('a form');
  const fields: [name: string, value: string | Unreadable][] = [];
  for (const pair of pairs) {
    if (pair === '') continue;
    const nameTo = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const written = pair.slice(0, nameTo);
    const name = formText(written, isPlain, decode);
    const value = formText(pair.slice(nameTo + 1), isPlain, decode);
    fields.push([name instanceof Unreadable ? written : name, value]);
  }
  return { text: isPlain ? text : logged(body), fields: Object.fromEntries(fields) };
}

function formText(written: string, isPlain: boolean, decode: Decode): string | Unreadable {
  if (isPlain) {
    // A copy: a slice would keep the whole body in memory.
    if (!/[%+]/.test(written)) return ` ${written}`.slice(1);
    try {
      return decodeURIComponent(written.replaceAll('+', ' '));
    } catch {
      // It has an invalid escape, which stays as it is, or bytes that are not UTF-8.
    }
  }
  const unescaped = written
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decode(Buffer.from(unescaped, 'latin1'));
}

function parseJson(body: Buffer): PostedFields {
  if (!isUtf8(body)) {
    throw new GatewayError(
      'unparseable_body',
      `the body has ${firstInvalidByte(body)}, which is not UTF-8: send JSON in UTF-8`,
    );
  }
  const text = body.toString('utf8');
  const fields = parseJsonObject(text);
  if (Object.keys(fields).length > MAX_FIELDS) throw tooManyFields('the body');
  return { text, fields };
}

/*
 * Our own reader, because PHP also reads lines that end with a line feed alone, and a shop may send bytes that are not
 * UTF-8. `@fastify/busboy` and Node's `formData()` reject the first, and `formData()` replaces the second.
 */

/**
 * Reads the text fields of a multipart/form-data body. As in PHP, its lines may end without a carriage return. Files are
 * ignored.
 */
function parseMultipart(body: Buffer, contentType: string): PostedFields {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed('its Content-Type names no boundary');
  const decode = decoderOf(charsetOf(contentType));
  // One character per byte: the structure is ASCII, and values are decoded one by one. The leading line break makes a
  // boundary at the start look like any other.
  const text = `\n${body.toString('latin1')}`;
  const separator = `\n--${boundary}`;
  const fields = new Map<string, string | Unreadable>();
  let at = boundaryEnd(text, separator, 0, 'it does not contain its boundary');
  for (let part = 0; !text.startsWith('--', at); part++) {
    if (part === MAX_FIELDS) throw tooManyFields('a form');
    const emptyLine = /\n\r?\n/g;
    emptyLine.lastIndex = at;
    const headersEnd = emptyLine.exec(text)?.index;
    if (headersEnd === undefined) throw malformed('it ends in the headers of a part');
    const valueAt = emptyLine.lastIndex;
    // From the line break before the value, which for an empty value is also the one before the boundary.
    const next = boundaryEnd(text, separator, valueAt - 1, 'it ends before its last boundary');
    const name = fieldName(text.slice(at, headersEnd));
    const line = text.slice(valueAt, Math.max(valueAt, next - separator.length));
    const value = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (name !== undefined) {
      const decoded = decode(Buffer.from(name, 'latin1'));
      fields.set(decoded instanceof Unreadable ? name : decoded, decode(Buffer.from(value, 'latin1')));
    }
    at = next;
  }
  return { text: logged(body), fields: Object.fromEntries(fields) };
}

/** The index after the next boundary. A boundary is followed by `--` or ends its line. Anything else is data. */
function boundaryEnd(text: string, separator: string, from: number, missing: string): number {
  for (let found = text.indexOf(separator, from); found !== -1; found = text.indexOf(separator, found + 1)) {
    const end = found + separator.length;
    const isLast = text.startsWith('--', end);
    if (isLast || /^[ \t]*\r?\n/.test(text.slice(end, end + 80))) return end;
  }
  throw malformed(missing);
}

/** The name of a text field; undefined for a file. */
function fieldName(headers: string): string | undefined {
  const disposition = /^content-disposition:\s*form-data\s*(;.*)$/im.exec(headers)?.[1];
  if (disposition === undefined) throw malformed('a part has no Content-Disposition: form-data');
  if (/;\s*filename\*?=/i.test(disposition)) return undefined;
  const [, , quoted, plain] =
    /;\s*name=(?:(["'])((?:\\.|(?!\1)[^\\])*)\1|([^\s;"']+))/i.exec(disposition) ?? [];
  const name = quoted?.replace(/\\(.)/g, '$1') ?? plain;
  if (name === undefined) throw malformed('a part has no name');
  return name;
}

function malformed(why: string): GatewayError {
  return new GatewayError('unparseable_body', `the body is not valid multipart/form-data: ${why}`);
}
