import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { GatewayError } from '../contract/error.ts';
import { fieldReader, type PostedFields } from '../wire/body.ts';

/** No request that this interface knows is anywhere near this large (chosen). */
export const MAX_BODY_BYTES = 2 ** 20;

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

/** Reads the body so that a later reader gets it, or its error, too. */
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

/**
 * Reads the fields of a form (URL-encoded or multipart) or a JSON object.
 *
 * @throws GatewayError `unsupported_media_type`, `body_too_large`, `unparseable_body`
 */
export async function readFields(c: Context): Promise<PostedFields> {
  const type = header(c, 'content-type');
  const read = fieldReader(type);
  return read(await readBody(c), type);
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
  const read = fieldReader(header(c, 'content-type'), true);
  return read(await readBody(c), '');
}

/** Maximum size of a whole state: what can be exported can be imported again (chosen). */
const MAX_STATE_BYTES = 256 * 2 ** 20;

/**
 * Reads a whole state, a JSON object of up to 256 MiB.
 *
 * @throws GatewayError `unsupported_media_type`, `body_too_large`, `unparseable_body`
 */
export async function readStateBody(c: Context): Promise<Record<string, unknown>> {
  const read = fieldReader(header(c, 'content-type'), true);
  return read(await takeBody(c, MAX_STATE_BYTES), '').fields;
}
