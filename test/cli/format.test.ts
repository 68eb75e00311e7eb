import { describe, expect, it } from 'vitest';
import { answerText } from '../../src/cli/format.ts';

describe("the words of a receiver's response", () => {
  it.each([
    ['Invalid signature', 'Invalid signature'],
    ['\r\n\n  {"error":"no"}\r\nmore', 'no'],
    ['{\n  "detail": "The amount differs."\n}', 'The amount differs.'],
    ['<!DOCTYPE html>\n<style>\nbody{}</style><title>Whoops</title>', 'Whoops'],
    ['<script>x</script><!-- -->', '<script>x</script><!-- -->'],
    ['', undefined],
    [null, undefined],
    ['a'.repeat(500), `${'a'.repeat(200)}…`],
    ['\u001b[2Jx', '\\u001b[2Jx'],
  ])('of %j is %j', (body, line) => {
    const failed = { error: 'no', responseBody: body };
    expect(answerText(failed)).toBe(line);
  });

  it('is not shown if the receiver accepted the attempt', () => {
    expect(answerText({ error: null, responseBody: 'OK' })).toBeUndefined();
  });
});
