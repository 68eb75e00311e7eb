import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_TYPE } from './operation.ts';

/** Health checks and their responses. No guard applies to them. */
export const PROBES = {
  '/_sim/livez': { status: 'live' },
  '/_sim/readyz': { status: 'ready' },
} as const;

const BODIES = new Map(Object.entries(PROBES).map(([path, answer]) => [path, JSON.stringify(answer)]));

/** Answers a probe without loading the app. @returns false for any other request */
export function answerProbe({ method, url = '' }: IncomingMessage, outgoing: ServerResponse): boolean {
  const body = method === 'GET' ? BODIES.get(url) : undefined;
  if (body === undefined) return false;
  outgoing.writeHead(200, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) }).end(body);
  return true;
}
