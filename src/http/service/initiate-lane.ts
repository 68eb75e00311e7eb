import type { IncomingMessage, ServerResponse } from 'node:http';
import { isPlainHost } from '../../contract/address.ts';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import { fieldReader } from '../../wire/body.ts';
import { MAX_BODY_BYTES, readIncoming } from '../body.ts';
import type { AppParts, RequestNotes } from '../environment.ts';
import type { Lane } from '../listener.ts';
import { recordRequest } from '../record-requests.ts';
import { ANSWER_HEADERS, answerInitiate } from './initiate.ts';

const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data) *(?:;|$)/i;

/**
 * Initiate as nearly all clients send it, answered on Node's own request. The app makes a `Request`, a `Response` and
 * a route of each, which costs more processor time than the payment does. Whatever is unusual goes through the app;
 * both answer by `answerInitiate`.
 */
export function initiateLane(parts: AppParts, report: (error: unknown) => void): Lane {
  const { faults, dialect } = parts;
  const modes = new Map<string, Mode>(MODES.map((mode) => [dialect.paths.initiate[mode], mode]));
  return (incoming, outgoing) => {
    const mode = modes.get(incoming.url ?? '');
    if (mode === undefined || faults.areOn || !isPlain(incoming)) return false;
    answer(incoming, outgoing, mode).catch((error) => {
      report(error);
      outgoing.destroy();
    });
    return true;
  };

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, mode: Mode): Promise<void> {
    const started = performance.now();
    const notes: RequestNotes = {};
    const { status, body } = await answerInitiate(readForm(incoming), mode, notes, parts, report);
    const request = {
      method: 'POST',
      target: dialect.paths.initiate[mode],
      requestHeaders: incoming.headers as Record<string, string>,
    };
    recordRequest(request, status, notes, started, parts);
    outgoing.writeHead(status, {
      'X-Gateway-Sim': '1',
      ...ANSWER_HEADERS,
      'Content-Length': Buffer.byteLength(body),
    });
    outgoing.end(body);
  }
}

async function readForm(incoming: IncomingMessage) {
  const type = incoming.headers['content-type'] ?? '';
  return fieldReader(type)(await readIncoming(incoming, MAX_BODY_BYTES), type);
}

function isPlain({ method, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    httpVersion === '1.1' &&
    // Without a length it is chunked, or empty.
    Number(headers['content-length']) <= MAX_BODY_BYTES &&
    FORM.test(headers['content-type'] ?? '') &&
    isPlainHost(headers.host ?? '') &&
    headers.expect === undefined &&
    headers.upgrade === undefined
  );
}
