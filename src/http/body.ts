import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/error.ts';
import { fieldReader, type PostedFields, Unreadable } from '../service/body.ts';
import type { AppContext } from './environment.ts';

/** Far larger than any request of this interface (chosen). */
const MAX_BODY_BYTES = 2 ** 20;

/** Maximum size of a whole state, about 100,000 payments (chosen). All of it is read into memory. */
const MAX_STATE_BYTES = 64 * 2 ** 20;

/** Headers by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** The headers of a request as Node parsed them. Hono would create a `Headers` to find one. */
export function headersOf(c: AppContext): RequestHeaders {
  return (c.env?.incoming?.headers as RequestHeaders | undefined) ?? c.req.header();
}

/** Reads the body early and keeps it, or its error, for the handler. */
export function keepBody(c: AppContext): void {
  const body = readBody(c, MAX_BODY_BYTES);
  // The handler may reject the type without reading the body. An uncaught error would end the process.
  body.catch(() => {});
  c.set('body', body);
}

async function readBody(c: AppContext, limit: number): Promise<Buffer> {
  const message = `the body must not exceed ${limit} bytes (${limit / 2 ** 20} MiB)`;
  if (Number(headersOf(c)['content-length']) > limit) throw new GatewayError('body_too_large', message);
  const incoming = c.env?.incoming;
  const body = incoming ? await readIncoming(incoming, limit) : Buffer.from(await c.req.arrayBuffer());
  if (body.length > limit) throw new GatewayError('body_too_large', message);
  return body;
}

/**
 * Reads a body to its end, or just beyond the limit.
 *
 * @throws GatewayError `unparseable_body` if the client disconnects
 */
async function readIncoming(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const isBroken = await new Promise<boolean>((resolve) => {
    const finish = (isBroken: boolean) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
      resolve(isBroken);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limit) finish(false);
    };
    const onEnd = () => finish(false);
    const onBreak = () => finish(true);
    incoming.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak);
  });
  if (isBroken) {
    throw new GatewayError('unparseable_body', 'the client disconnected before the body was complete');
  }
  if (size > limit) incoming.pause();
  return Buffer.concat(chunks);
}

/** The type of an uncompressed body. @throws GatewayError `unsupported_media_type` for a compressed one */
function typeOf(c: AppContext): string {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headersOf(c);
  if (coding === '' || coding.toLowerCase() === 'identity') return type;
  throw new GatewayError(
    'unsupported_media_type',
    `the body is compressed (Content-Encoding: ${coding.slice(0, 80)}): send it uncompressed`,
  );
}

/**
 * Reads the fields of a form (URL-encoded or multipart) or a JSON object.
 *
 * @throws GatewayError `unsupported_media_type`; `body_too_large`, as soon as the limit is exceeded; `unparseable_body`,
 *   also if the client disconnects
 */
export async function readFields(c: AppContext, { jsonOnly = false } = {}): Promise<PostedFields> {
  const type = typeOf(c);
  const read = fieldReader(type, jsonOnly);
  const posted = read(await (c.get('body') ?? readBody(c, MAX_BODY_BYTES)), type);
  c.get('secrets').learn(posted.fields);
  return posted;
}

/** Reads the text of a whole state without parsing it. @throws GatewayError like `readFields` */
export function readStateText(c: AppContext): Promise<Buffer> {
  fieldReader(typeOf(c), true);
  return readBody(c, MAX_STATE_BYTES);
}

/**
 * Reads a form of our own pages, whose fields are all text, and adds the body to the request log.
 *
 * @throws GatewayError like `readFields`, and `invalid_fields` for JSON values that are not scalars
 */
export async function readTextFields(c: AppContext): Promise<Record<string, string>> {
  const { fields, text } = await readFields(c);
  c.get('requestLog').requestBody = text;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (value instanceof Unreadable) throw new GatewayError('invalid_fields', `${name} ${value.problem}`);
      if (typeof value === 'object') throw new GatewayError('invalid_fields', `${name} must be text`);
      return [name, String(value)];
    }),
  );
}
