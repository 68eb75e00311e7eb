import { GatewayError } from '../contract/error.ts';
import { SURROGATE_ESCAPE } from '../contract/input.ts';

/** Maximum number of fields in a form or a JSON object. No client of this interface sends nearly as many. */
const MAX_FIELDS = 1_000;

function tooManyFields(what: string): GatewayError {
  return new GatewayError('body_too_large', `${what} must have at most ${MAX_FIELDS} fields`);
}

/**
 * Counts the fields of every object in a value, at any depth.
 *
 * @throws GatewayError `body_too_large` if one has more than `MAX_FIELDS`
 */
function requireFewFields(value: unknown): void {
  const open = [value];
  while (open.length) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const inside = Object.values(next);
    if (inside.length > MAX_FIELDS && !Array.isArray(next)) throw tooManyFields('an object of the body');
    for (const one of inside) open.push(one);
  }
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
  ['application/x-www-form-urlencoded', parseForm],
  ['multipart/form-data', parseMultipartForm],
  ['application/json', parseJson],
]);
const JSON_READER: ReadonlyMap<string, FieldReader> = new Map([['application/json', parseJson]]);

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
  const reader = readers.get(type);
  if (reader) return reader;
  const got = type ? `"${type.slice(0, 80)}"` : 'none';
  throw new GatewayError(
    'unsupported_media_type',
    `Content-Type must be ${[...readers.keys()].join(' or ')} (got ${got})`,
  );
}

/** Reads a form. Ignores a field `__proto__`. */
function parseForm(body: Buffer): PostedFields {
  const text = body.toString('utf8');
  const fields: PostedFields['fields'] = {};
  const pairs = text.split('&', MAX_FIELDS + 1);
  if (pairs.length > MAX_FIELDS) throw tooManyFields('a form');
  for (const pair of pairs) {
    if (pair === '') continue;
    const nameTo = pair.includes('=') ? pair.indexOf('=') : pair.length;
    fields[formText(pair.slice(0, nameTo))] = formText(pair.slice(nameTo + 1));
  }
  return { text, fields };
}

function parseMultipartForm(body: Buffer, contentType: string): PostedFields {
  const fields: PostedFields['fields'] = {};
  for (const [name, value] of parseMultipart(body, contentType)) fields[name] = value;
  return { text: body.toString('utf8'), fields };
}

/** Decodes a name or value of a form. */
function formText(written: string): string {
  // A copy: a slice would keep the whole body in memory.
  if (!/[%+]/.test(written)) return ` ${written}`.slice(1);
  try {
    return decodeURIComponent(written.replaceAll('+', ' '));
  } catch {
    // Invalid UTF-8 and invalid escapes are decoded as far as possible.
    return new URLSearchParams(`=${written}`).get('') ?? '';
  }
}

function parseJson(body: Buffer): PostedFields {
  const text = body.toString('utf8');
  let parsed: unknown;
  try {
    // Lone surrogates, which JSON can carry but UTF-8 cannot, become the replacement character.
    parsed = SURROGATE_ESCAPE.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text);
  } catch (error) {
    throw new GatewayError('unparseable_body', `the body is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new GatewayError('unparseable_body', 'the body must be a JSON object');
  }
  requireFewFields(parsed);
  return { text, fields: parsed as PostedFields['fields'] };
}

const wellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value);

/*
 * Our own reader: libraries are made for streams of files. Here the body is small and complete, and only its text fields
 * matter. The libraries take as long for them as all the rest of an initiate.
 */

type Field = readonly [name: string, value: string];

/**
 * The text fields of a multipart/form-data body, in order. Files are ignored.
 *
 * @param body the whole body
 * @param contentType the Content-Type header, which names the boundary
 * @throws GatewayError `unparseable_body`, with the problem, or `body_too_large`
 */
function parseMultipart(body: Buffer, contentType: string): Field[] {
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
    const headersEnd = text.indexOf(HEADERS_END, at);
    if (headersEnd === -1) throw malformed('it ends in the headers of a part');
    // From the second line break, which for an empty value is also the one before the boundary.
    const next = boundaryEnd(text, separator, headersEnd + 2, 'it ends before its last boundary');
    const name = fieldName(text.slice(at, headersEnd));
    const value = text.slice(headersEnd + HEADERS_END.length, next - separator.length);
    if (name !== undefined) fields.push([decoded(name), decoded(value)]);
    at = next;
  }
  return fields;
}

const HEADERS_END = '\r\n\r\n';

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
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function malformed(why: string): GatewayError {
  return new GatewayError('unparseable_body', `the body is not valid multipart/form-data: ${why}`);
}
