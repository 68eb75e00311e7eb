import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { GatewayError } from '../contract/error.ts';
import { parseMultipart } from '../wire/multipart.ts';

/** No request that this interface knows is anywhere near this large (chosen). */
export const MAX_BODY_BYTES = 2 ** 20;

/** The fields of a posted body as one object. */
export interface PostedFields {
  fields: Record<string, unknown>;
  /** The text they were read from, for the request log. */
  text: string;
}

/**
 * Reads a whole body, at most 1 MiB of it.
 *
 * @throws GatewayError `body_too_large`, without reading on; `unparseable_body` when the client breaks off
 */
export async function readBody(c: Context): Promise<Buffer> {
  return kept.get(c) ?? takeBody(c, MAX_BODY_BYTES);
}

/** Bodies that were read before their handler asked for them: from a connection they can be read once only. */
const kept = new WeakMap<Context, Promise<Buffer>>();

/** Reads the body so that whoever asks for it later gets it, or its error, too. */
export function keepBody(c: Context): void {
  kept.set(c, takeBody(c, MAX_BODY_BYTES));
}

async function takeBody(c: Context, limit: number): Promise<Buffer> {
  if (Number(header(c, 'content-length')) > limit) throw tooLarge(limit);
  const incoming = (c.env as Partial<HttpBindings> | undefined)?.incoming;
  if (incoming) return readIncoming(incoming, limit);
  const body = Buffer.from(await c.req.arrayBuffer());
  if (body.length > limit) throw tooLarge(limit);
  return body;
}

function readIncoming(incoming: HttpBindings['incoming'], limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) refuse(tooLarge(limit));
      else chunks.push(chunk);
    };
    const onEnd = () => {
      letGo();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    };
    const brokenOff = () =>
      refuse(new GatewayError('unparseable_body', 'the client broke off before the body was complete'));
    const refuse = (error: GatewayError) => {
      letGo();
      incoming.pause();
      reject(error);
    };
    const letGo = () =>
      incoming.off('data', onData).off('end', onEnd).off('error', brokenOff).off('close', brokenOff);
    incoming.on('data', onData).on('end', onEnd).on('error', brokenOff).on('close', brokenOff);
  });
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError(
    'body_too_large',
    `the body may have at most ${limit} bytes (${limit / 2 ** 20} MiB)`,
  );
}

/** A header as Node parsed it; hono would build all of them anew to find one. */
function header(c: Context, name: 'content-type' | 'content-length'): string {
  const incoming = (c.env as Partial<HttpBindings> | undefined)?.incoming;
  return (incoming ? incoming.headers[name] : c.req.header(name)) ?? '';
}

/** The media type of a request, in lower case and without parameters. */
function mediaType(c: Context): string {
  return header(c, 'content-type').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/**
 * Reads the fields of a form (URL-encoded or multipart: documented) or a JSON object (observed).
 * Of a repeated field the last counts.
 *
 * @throws GatewayError `unsupported_media_type`, `body_too_large`, `unparseable_body`
 */
export async function readFields(c: Context): Promise<PostedFields> {
  const type = mediaType(c);
  switch (type) {
    case 'application/x-www-form-urlencoded': {
      const text = (await readBody(c)).toString('utf8');
      return { text, fields: parseForm(text) };
    }
    case 'multipart/form-data': {
      const body = await readBody(c);
      return {
        text: body.toString('utf8'),
        fields: Object.fromEntries(parseMultipart(body, header(c, 'content-type'))),
      };
    }
    case 'application/json':
      return readJson(c);
    default:
      throw unsupported(type, [
        'application/x-www-form-urlencoded',
        'multipart/form-data',
        'application/json',
      ]);
  }
}

function parseForm(text: string): Record<string, string> {
  // Without a prototype any name is a field like others. Making entries of them first would take half as long again.
  const fields: Record<string, string> = Object.create(null);
  new URLSearchParams(text).forEach((value, name) => {
    fields[name] = value;
  });
  return fields;
}

/**
 * Reads the fields of a form of our own pages: all of them are text.
 *
 * @throws GatewayError as `readFields`, and `invalid_fields` for JSON that holds something else
 */
export async function readTextFields(c: Context): Promise<Record<string, string>> {
  const { fields } = await readFields(c);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value === 'object') throw new GatewayError('invalid_fields', `${name} must be text`);
      return [name, String(value)];
    }),
  );
}

/**
 * Reads the fields of a body that must be a JSON object.
 *
 * @throws GatewayError `unsupported_media_type`, `body_too_large`, `unparseable_body`
 */
export async function readJsonBody(c: Context): Promise<PostedFields> {
  const type = mediaType(c);
  if (type !== 'application/json') throw unsupported(type, ['application/json']);
  return readJson(c);
}

/** A whole state may be so large: what can be exported can be imported again (chosen). */
const MAX_STATE_BYTES = 256 * 2 ** 20;

/**
 * Reads a whole state, a JSON object of up to 256 MiB.
 *
 * @throws GatewayError `unsupported_media_type`, `body_too_large`, `unparseable_body`
 */
export async function readStateBody(c: Context): Promise<Record<string, unknown>> {
  const type = mediaType(c);
  if (type !== 'application/json') throw unsupported(type, ['application/json']);
  return parseObject(await takeBody(c, MAX_STATE_BYTES)).fields;
}

function unsupported(type: string, accepted: readonly string[]): GatewayError {
  const got = type ? `"${type.slice(0, 80)}"` : 'none';
  return new GatewayError(
    'unsupported_media_type',
    `Content-Type must be ${accepted.join(' or ')} (got ${got})`,
  );
}

async function readJson(c: Context): Promise<PostedFields> {
  return parseObject(await readBody(c));
}

function parseObject(body: Buffer): PostedFields {
  const text = body.toString('utf8');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new GatewayError('unparseable_body', `the body is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new GatewayError('unparseable_body', 'the body must be a JSON object');
  }
  return { text, fields: wellFormed(parsed) };
}

/** Lone surrogates, which JSON can carry but UTF-8 cannot, become the replacement character. */
function wellFormed(object: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.toWellFormed() : value,
    ]),
  );
}

const AMOUNT_NUMBER = /"amount"\s*:\s*(-?[0-9][0-9.eE+-]*)/g;

/** How an amount that came as a JSON number was written: parsing forgets an exponent and trailing digits. */
export function amountSource(
  fields: Readonly<Record<string, unknown>>,
  text: string,
): { amountSource?: string } {
  if (typeof fields['amount'] !== 'number') return {};
  const found = [...text.matchAll(AMOUNT_NUMBER)];
  const source = found.length === 1 ? found[0]?.[1] : undefined;
  return source === undefined ? {} : { amountSource: source };
}
