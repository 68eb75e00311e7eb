import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_TYPE } from './operation.ts';

/** What is asked by whatever waits for the emulator, and the answers: no guard is in front of them. */
export const PROBES = {
  '/_sim/livez': { status: 'live' },
  '/_sim/readyz': { status: 'ready' },
} as const;

const BODIES = new Map(Object.entries(PROBES).map(([path, answer]) => [path, JSON.stringify(answer)]));

/** Answers a probe without the app, which need not be loaded for it. @returns false for any other request */
export function answerProbe({ method, url = '' }: IncomingMessage, outgoing: ServerResponse): boolean {
  const body = method === 'GET' ? BODIES.get(url) : undefined;
  if (body === undefined) return false;
  outgoing.writeHead(200, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) }).end(body);
  return true;
}
