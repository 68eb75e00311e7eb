import { digits } from '../node-shop.ts';
import {
  formOnly,
  jsonToo,
  limited,
  literalKeys,
  phpNested,
  qsNested,
  refusesChunked,
  refusesGzip,
  trimming,
} from './parsers.ts';
import { JSON_BODY, NOTHING, PAGE, type Style, TEXT } from './shop.ts';

const PLAIN: Style = {
  server: 'http',
  parse: literalKeys,
  refusal: [400, 400, 400],
  refusalBody: TEXT,
  accepted: 200,
  acceptedBody: TEXT,
  ...{ ignored: 200, copy: 200, otherMethod: 405 },
  work: 'before',
  money: 'text',
  total: '49.90',
  upperCasesFirst: false,
  identifier: (count) => digits(`order ${count}`, 20),
  token: 'query',
  concurrency: 'row',
  ...{ sessions: false, mailsAfterMs: 0, invoices: false, frontController: false },
};

const express = limited(refusesGzip(qsNested));
const fastify = limited(refusesGzip(formOnly(jsonToo(qsNested))));
const laravel = trimming(jsonToo(phpNested));
const EMPTY = { refusalBody: NOTHING, acceptedBody: NOTHING };
const IN_JSON = { refusalBody: JSON_BODY, acceptedBody: JSON_BODY };
const IN_HTML = { refusalBody: PAGE, acceptedBody: PAGE };
const TAKES_ALL = { refusal: [200, 200, 200], otherMethod: 200 } as const;
const numbered = (count: number) => String(1_000 + count);

/** Correct handlers of different kinds, for which no case may fail. */
export const HANDLERS: Readonly<Record<string, Style>> = Object.fromEntries(
  (
    [
      ['plain', {}],
      ['rejects with 401', { refusal: [400, 401, 404] }],
      ['rejects with 403', { refusal: [403, 403, 403] }],
      ['rejects with 404', { refusal: [404, 404, 404] }],
      ['rejects with 409', { refusal: [409, 409, 409], copy: 409 }],
      ['rejects with 422', { refusal: [422, 401, 422] }],
      ['answers 200 to everything', TAKES_ALL],
      ['answers 200 to everything, empty', { ...TAKES_ALL, ...EMPTY }],
      ['answers 200 to everything, in JSON', { ...TAKES_ALL, ...IN_JSON }],
      ['answers 200 to everything, with a page', { ...TAKES_ALL, ...IN_HTML }],
      ['answers 202', { accepted: 202, ignored: 202 }],
      ['answers 204', { accepted: 204, ignored: 204, copy: 204, ...EMPTY }],
      ['answers 201', { accepted: 201, ...IN_JSON }],
      ['answers 501 to other methods', { otherMethod: 501 }],
      ['answers 404 to other methods', { otherMethod: 404, ...IN_HTML }],
      ['empty bodies', EMPTY],
      ['JSON bodies', IN_JSON],
      ['HTML bodies', IN_HTML],
      ['Hono', { server: 'hono' }],
      ['Hono with JSON', { server: 'hono', parse: jsonToo(literalKeys), ...IN_JSON }],
      ['Hono, asynchronous', { server: 'hono', accepted: 202, work: 'after' }],
      ['Hono, nested', { server: 'hono', parse: qsNested, token: 'path' }],
      ['Express', { parse: express }],
      ['Express with JSON', { parse: limited(refusesGzip(jsonToo(qsNested))), ...IN_JSON }],
      ['Express, locking', { parse: express, concurrency: 'queue' }],
      ['Express with sessions', { parse: express, sessions: true, ...IN_HTML }],
      ['Fastify', { parse: fastify, ...IN_JSON, refusal: [400, 401, 404] }],
      ['Fastify, slow', { parse: fastify, work: 'slow' }],
      ['PHP', { parse: phpNested, ...EMPTY }],
      ['PHP with pages and sessions', { parse: phpNested, sessions: true, ...IN_HTML }],
      ['PHP behind a front controller', { parse: phpNested, frontController: true }],
      ['Laravel', { parse: laravel, refusal: [422, 403, 404], ...IN_JSON, token: 'path' }],
      ['Laravel with a queue', { parse: laravel, work: 'after', accepted: 202, ...EMPTY }],
      ['rejects chunks', { parse: refusesChunked(literalKeys) }],
      ['rejects chunks, gzip and large bodies', { parse: limited(refusesGzip(refusesChunked(phpNested))) }],
      ['accepts only forms', { parse: formOnly(literalKeys) }],
      ['asynchronous', { accepted: 202, work: 'after' }],
      ['asynchronous, empty, queueing', { work: 'after', concurrency: 'queue', ...EMPTY }],
      ['slow', { work: 'slow' }],
      ['slow and locking', { work: 'slow', concurrency: 'queue' }],
      ['slow, and rejects concurrent requests', { work: 'slow', concurrency: 'rejected' }],
      ['rejects concurrent requests', { concurrency: 'rejected' }],
      ['locking', { concurrency: 'queue' }],
      ['amounts in cents', { money: 'cents' }],
      ['amounts in cents, 100.00', { money: 'cents', total: '100.00' }],
      ['amounts as numbers, 100', { money: 'number', total: '100' }],
      ['amounts as decimals', { money: 'decimal', total: '1250.5' }],
      ['the smallest amount', { money: 'decimal', total: '0.01' }],
      ['a large amount', { money: 'number', total: '99999.99' }],
      ['converts the signature to upper case', { upperCasesFirst: true }],
      [
        'converts the signature to upper case, and reads JSON',
        { upperCasesFirst: true, parse: jsonToo(phpNested) },
      ],
      ['numbers as identifiers', { identifier: numbered }],
      ['numbers as identifiers, token in the path', { identifier: numbered, token: 'path' }],
      ['short identifiers', { identifier: (count) => `S-${count}`, money: 'decimal' }],
      ['identifiers with special characters', { identifier: (count) => `SO/2026/${count}#a` }],
      [
        'identifiers of 20 digits',
        { identifier: (count) => digits(`order ${count}`, 20).replace(/\D/g, '7') },
      ],
      ['token in the path', { token: 'path' }],
      ['sends e-mails later', { mailsAfterMs: 150 }],
      ['sends e-mails from a slow queue', { mailsAfterMs: 400, work: 'after', accepted: 202 }],
      ['numbers its invoices', { invoices: true }],
      ['numbers its invoices, locking', { invoices: true, concurrency: 'queue', token: 'path' }],
    ] as [string, Partial<Style>][]
  ).map(([name, habits]) => [name, { ...PLAIN, ...habits }]),
);
