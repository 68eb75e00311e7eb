import http from 'node:http';
import https from 'node:https';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
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

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is decompressed up to the maximum, as %s', async (coding, compress) => {
    const whole = 'x'.repeat(MAX_RESPONSE_BYTES);
    const answering = (text: string) =>
      startAnswering((_, response) => {
        response.setHeader('Content-Encoding', coding).end(compress(text));
      });
    expect(await textOf(await answering(whole))).toBe(whole);
    await expect(textOf(await answering(`${whole}x`))).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('is rejected in an encoding that is unknown or broken', async () => {
    const url = await startAnswering((_, response) => BROKEN.encodesBadly(response));
    await expect(textOf(url)).rejects.toMatchObject({
      code: 'check_failed',
      message: 'the response cannot be decoded (Content-Encoding: gzip)',
    });
  });

  it.each([
    ['for the whole request', { timeoutMs: 50 }],
    ['for time without a byte', { idleMs: 50 }],
  ])('times out after the limit %s', async (_, limit) => {
    const url = await startAnswering((_request, response) => BROKEN.hangs(response));
    await expect(textOf(url, limit)).rejects.toMatchObject({
      code: 'timed_out',
      message: `${new URL(url).host} timed out after 0.05 s`,
    });
  });
});

describe('a request', () => {
  it.each([
    ['http', http],
    ['https', https],
  ])("does not use Node's global agent for %s, which may use a proxy", async (protocol, { globalAgent }) => {
    const used = vi.spyOn(globalAgent as unknown as { addRequest: () => void }, 'addRequest');
    onTestFinished(() => used.mockRestore());
    const { agent: _, ...get } = GET;
    await open({ ...get, url: `${protocol}://127.0.0.1:9/` }).catch(() => {});
    expect(used).not.toHaveBeenCalled();
  });

  it('times out before the response begins', async () => {
    const { url } = await startReceiver(['hang']);
    await expect(textOf(url, { idleMs: 50 })).rejects.toMatchObject({ code: 'timed_out' });
  });

  it('times out if only interim responses arrive', async () => {
    const url = await startAnswering((_, response) => {
      const every = setInterval(() => response.writeContinue(), 5);
      response.on('close', () => clearInterval(every));
    });
    await expect(textOf(url, { idleMs: 500 })).rejects.toMatchObject({ code: 'timed_out' });
  });
});
