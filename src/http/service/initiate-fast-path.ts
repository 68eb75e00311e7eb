import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isPlainHost } from '../../contract/address.ts';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import { fieldReader } from '../../wire/body.ts';
import { MAX_BODY_BYTES, readIncoming } from '../body.ts';
import type { AppParts, RequestLog } from '../environment.ts';
import type { FastPath } from '../listener.ts';
import { recordRequest } from '../record-requests.ts';
import { ANSWER_HEADERS, answerInitiate } from './initiate.ts';

const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data) *(?:;|$)/i;

/**
 * A fast path for initiate as nearly all clients send it. It skips the app, whose `Request`, `Response` and routing cost
 * more CPU time than the payment. Unusual requests go through the app; both use `answerInitiate`.
 */
export function initiateFastPath(parts: AppParts, report: (error: unknown) => void): FastPath {
  const { faults, dialect } = parts;
  const modes = new Map<string, Mode>(MODES.map((mode) => [dialect.paths.initiate[mode], mode]));
  return (incoming, outgoing) => {
    const mode = modes.get(incoming.url ?? '');
    if (mode === undefined || faults.areOn || incoming.method !== 'POST' || incoming.httpVersion !== '1.1')
      return false;
    if (!arePlain(incoming.headers)) return false;
    answer(incoming, outgoing, mode).catch((error) => {
      report(error);
      outgoing.destroy();
    });
    return true;
  };

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, mode: Mode): Promise<void> {
    const started = performance.now();
    const { headers } = incoming;
    const log: RequestLog = { id: parts.events.nextRequestId() };
    const posted = readForm(incoming, headers['content-type'] ?? '');
    const { origin, host } = headers;
    const page = { origin, site: headers['sec-fetch-site'] as string | undefined, host };
    const { status, body } = await answerInitiate(posted, { mode, page, log }, parts, report);
    const request = {
      method: 'POST',
      target: dialect.paths.initiate[mode],
      requestHeaders: headers as Record<string, string>,
    };
    recordRequest(request, status, log, started, parts);
    outgoing.writeHead(status, [...ALL_HEADERS, 'Content-Length', String(Buffer.byteLength(body))]);
    outgoing.write(body);
    // `end(body)` sends two chunks in one call, which takes longer than one chunk.
    outgoing.socket?.uncork();
    outgoing.end();
  }
}

const ALL_HEADERS = Object.entries({ 'X-Gateway-Sim': '1', ...ANSWER_HEADERS }).flat();

async function readForm(incoming: IncomingMessage, type: string) {
  return fieldReader(type)(await readIncoming(incoming, MAX_BODY_BYTES), type);
}

/** Whether the app would handle these headers in the same way. */
function arePlain(headers: IncomingHttpHeaders): boolean {
  return (
    // Without a length the body is chunked or empty.
    Number(headers['content-length']) <= MAX_BODY_BYTES &&
    FORM.test(headers['content-type'] ?? '') &&
    isPlainHost(headers.host ?? '') &&
    headers.expect === undefined &&
    headers.upgrade === undefined
  );
}
