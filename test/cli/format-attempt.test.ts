import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import { answerText } from '../../src/cli/format-attempt.ts';
import { eventLines } from '../../src/cli/format-event.ts';
import type { Delivery } from '../../src/contract/delivery.ts';
import type { SimEvent } from '../../src/contract/event.ts';
import { PLAIN } from '../../src/contract/hint.ts';

const said = (responseBody: string | null) =>
  answerText({ number: 1, error: 'no', responseStatus: 500, responseBody });

describe("the first line of a receiver's response", () => {
  it.each([
    ['Invalid signature', 'Invalid signature'],
    ['\r\n\n  {"error":"no"}\r\nmore', '{"error":"no"}'],
    ['<!DOCTYPE html>\n<style>\nbody{}</style><title>Whoops</title>', 'Whoops'],
    ['<script>x</script><!-- -->', undefined],
    ['', undefined],
    [null, undefined],
    ['a'.repeat(500), 'a'.repeat(200)],
    ['\u001b[2Jx', '\\u001b[2Jx'],
  ])('of %j is %j', (body, line) => {
    expect(said(body)).toBe(line);
  });

  it('is not shown for an attempt that was received', () => {
    expect(answerText({ number: 1, error: null, responseStatus: 200, responseBody: 'OK' })).toBeUndefined();
  });
});

describe('a line of the log', () => {
  it('has the time when something happened, not when it began', () => {
    const delivery: Delivery = {
      ...{ id: 'ipn_1', paymentId: null, merchantId: 'mer_1', identifier: 'order-1', status: 'success' },
      ...{ url: 'http://localhost/ipn', forwardedTo: null, contentType: '', body: '', signedText: '' },
      ...{ state: 'delivered', once: false, createdAt: '2026-01-15T10:00:00.000Z', underWay: null },
      ...{ nextAttemptAt: null, note: null, tampered: [], signedAnew: false, postponedBy: null },
      verdict: { tone: 'good', cause: 'Delivered.', fix: null },
      attempts: [
        {
          ...{ id: 'att_1', number: 1, startedAt: '2026-01-15T10:00:01.000Z', durationMs: 8_000 },
          ...{ url: 'http://localhost/ipn', requestHeaders: [], requestBody: '', responseHeaders: [] },
          ...{ responseStatus: 200, responseBody: '', failure: null, fault: null, error: null },
        },
      ],
    };
    const at = '2026-01-15T10:00:09.000Z';
    const event: SimEvent = { seq: 1, at, type: 'delivery', step: 'attempted', delivery };
    const [line] = eventLines(event, { colour: new Chalk({ level: 0 }), style: PLAIN });
    const time = new Date(at).toTimeString().slice(0, 8);
    expect(line).toBe(`${time}  <--  IPN POST http://localhost/ipn  200  8000 ms  order-1  attempt 1`);
  });
});
