import type { AttemptFailure, ResponseFlaw } from '../contract/delivery.ts';
import type { HttpResponse } from './sender.ts';

/*
 * Responses that curl reads and Node's parser rejects (observed with curl 7.88). The real sender is curl, so the receiver
 * has the IPN, and its answer counts.
 */

/** A status line as curl accepts it. The reason may be missing. */
const STATUS_LINE = /^HTTP\/(?:1\.[01]|2(?:\.0)?|3) +(\d{3})(?!\d)/i;

/**
 * Reads a response like curl.
 *
 * @param bytes what the receiver sent
 * @param error why Node could not read it
 * @param failure the same as data
 * @returns undefined if it has no status line, or did not end in time
 */
export function readLeniently(
  bytes: Buffer,
  error: unknown,
  { code }: AttemptFailure,
): (HttpResponse & { flaw: ResponseFlaw }) | undefined {
  if (code === 'timed_out' || code === 'stopping') return undefined;
  // One character per byte: the structure is ASCII.
  const text = bytes.toString('latin1');
  const status = STATUS_LINE.exec(text)?.[1];
  // An interim response is no answer.
  if (status === undefined || status.startsWith('1')) return undefined;
  const end = /\r?\n\r?\n/.exec(text);
  const head = text.slice(0, end?.index);
  const headers = head
    .split(/\r?\n/)
    .slice(1)
    .flatMap((line): [string, string][] => {
      const [, name, value] = /^([^:]+?)[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    });
  const body = end ? bytes.subarray(end.index + end[0].length) : Buffer.alloc(0);
  return { status: Number(status), headers, body, flaw: flawOf(headers, body, error) };
}

function flawOf(headers: readonly (readonly [string, string])[], body: Buffer, error: unknown): ResponseFlaw {
  const valuesOf = (wanted: string) => headers.filter(([name]) => name.toLowerCase() === wanted);
  const lengths = valuesOf('content-length').flatMap(([, value]) => value.split(','));
  if (lengths.length && valuesOf('transfer-encoding').length) return { code: 'both_lengths' };
  if (lengths.length > 1) return { code: 'repeated_length' };
  const length = Number(lengths[0]);
  if (body.length > length) return { code: 'too_long' };
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (!code.startsWith('HPE_')) return { code: 'incomplete' };
  return { code: 'invalid', message: message.replace(/^Parse Error: /, '') };
}
