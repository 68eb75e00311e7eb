import { describe, expect, it } from 'vitest';
import { MAX_RESPONSE_BYTES, type Outgoing, open, readText } from '../../src/delivery/sender.ts';
import { BROKEN, startAnswering } from '../helpers/answering.ts';
import { startReceiver } from '../helpers/receiver.ts';

const GET = { method: 'GET', headers: [], guard: null, agent: false } as const;

const textOf = async (url: string, more: Partial<Outgoing> = {}) =>
  readText(await open({ ...GET, url, ...more }));

describe('a response that is read as text', () => {
  it('is read up to the maximum, and then its connection is closed', async () => {
    const whole = 'x'.repeat(MAX_RESPONSE_BYTES);
    const { url } = await startReceiver([{ body: whole }, { body: `${whole}x` }]);
    expect(await textOf(url)).toBe(whole);
    await expect(textOf(url)).rejects.toMatchObject({
      code: 'body_too_large',
      message: 'the response is larger than 256 KiB',
    });
  });

  it('is not decoded', async () => {
    const url = await startAnswering((_, response) => BROKEN.encodes(response));
    await expect(textOf(url)).rejects.toMatchObject({
      code: 'check_failed',
      message: 'the response has an encoding (gzip) that was not requested',
    });
  });

  it.each([
    ['for the whole request', { timeoutMs: 50 }],
    ['for time without a byte', { idleMs: 50 }],
  ])('times out after the limit %s', async (_, limit) => {
    const url = await startAnswering((_request, response) => BROKEN.hangs(response));
    await expect(textOf(url, limit)).rejects.toMatchObject({
      code: 'timed_out',
      message: `no complete response from ${new URL(url).host} within 0.05 s`,
    });
  });
});

describe('a request', () => {
  it('times out before the response begins', async () => {
    const { url } = await startReceiver(['hang']);
    await expect(textOf(url, { idleMs: 50 })).rejects.toMatchObject({ code: 'timed_out' });
  });
});
