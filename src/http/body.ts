import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/error.ts';
import { fieldReader, type PostedFields } from '../wire/body.ts';
import type { AppContext } from './environment.ts';

/** No request that this interface knows is anywhere near this large (chosen). */
export const MAX_BODY_BYTES = 2 ** 20;

/** Maximum size of a whole state: a hundred thousand payments (chosen). It is in memory as a whole. */
const MAX_STATE_BYTES = 64 * 2 ** 20;

/** Bodies that were read before their handler asked for them: from a connection they can be read once only. */
const kept = new WeakMap<AppContext, Promise<Buffer>>();

/** Reads the body so that a later reader gets it, or its error, too. */
export function keepBody(c: AppContext): void {
  const body = readBody(c, MAX_BODY_BYTES);
  // Nobody reads it when its type is refused first: its error must not go uncaught, which would end the process.
  body.catch(() => {});
  kept.set(c, body);
}

async function readBody(c: AppContext, limit: number): Promise<Buffer> {
  const message = `the body may have at most ${limit} bytes (${limit / 2 ** 20} MiB)`;
  if (Number(header(c, 'content-length')) > limit) throw new GatewayError('body_too_large', message);
  const incoming = c.env?.incoming;
  const body = incoming ? await readIncoming(incoming, limit) : Buffer.from(await c.req.arrayBuffer());
  if (body.length > limit) throw new GatewayError('body_too_large', message);
  return body;
}

/**
 * Reads to the end, or just beyond the limit.
 *
 * @throws GatewayError `unparseable_body` when the client breaks off
 */
export async function readIncoming(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  const declared = Number(incoming.headers['content-length']);
  // A small body nearly always comes in one piece with its headers: it is here as soon as that is parsed, and need not
  // be listened for.
  await undefined;
  if (incoming.readableLength === declared) {
    const body: Buffer | null = incoming.read();
    if (body) return body;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const isBroken = await takeChunks(incoming, (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    return size <= limit;
  });
  if (isBroken) {
    throw new GatewayError('unparseable_body', 'the client broke off before the body was complete');
  }
  if (size > limit) incoming.pause();
  // Most bodies come in one piece, which need not be copied.
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/**
 * Takes a body until its end, until `take` returns false, or for that many milliseconds of real time.
 *
 * @returns whether it broke off before
 */
export function takeChunks(
  incoming: IncomingMessage,
  take: (chunk: Buffer) => boolean,
  maxMs?: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const onData = (chunk: Buffer) => {
      if (!take(chunk)) onEnd();
    };
    const onEnd = () => finish(false);
    const onBreak = () => finish(true);
    const timer = maxMs === undefined ? undefined : setTimeout(onBreak, maxMs);
    const finish = (isBroken: boolean) => {
      clearTimeout(timer);
      incoming.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
      resolve(isBroken);
    };
    incoming.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak);
  });
}

/** A header as Node parsed it; hono would build all of them anew to find one. */
function header(c: AppContext, name: 'content-type' | 'content-length'): string {
  const incoming = c.env?.incoming;
  return (incoming ? incoming.headers[name] : c.req.header(name)) ?? '';
}

/**
 * Reads the fields of a form (URL-encoded or multipart) or a JSON object.
 *
 * @throws GatewayError `unsupported_media_type`; `body_too_large`, without reading on; `unparseable_body`, also when the
 *   client breaks off
 */
export async function readFields(c: AppContext, { jsonOnly = false } = {}): Promise<PostedFields> {
  const type = header(c, 'content-type');
  const read = fieldReader(type, jsonOnly);
  return read(await (kept.get(c) ?? readBody(c, MAX_BODY_BYTES)), type);
}

/** Reads the text of a whole state. @throws GatewayError as `readFields`, but nothing is parsed */
export function readStateText(c: AppContext): Promise<Buffer> {
  fieldReader(header(c, 'content-type'), true);
  return readBody(c, MAX_STATE_BYTES);
}

/**
 * Reads the fields of a form of our own pages: all of them are text. The request log is told what was posted.
 *
 * @throws GatewayError as `readFields`, and `invalid_fields` for JSON that holds something else
 */
export async function readTextFields(c: AppContext): Promise<Record<string, string>> {
  const { fields, text } = await readFields(c);
  c.get('requestLog').requestBody = text;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value === 'object') throw new GatewayError('invalid_fields', `${name} must be text`);
      return [name, String(value)];
    }),
  );
}
