import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectGatewaySim } from '../../src/index.ts';
import { controlServer } from '../../src/library/control-client.ts';
import { BROKEN, startAnswering } from '../helpers/answering.ts';
import { gate, startReceiver } from '../helpers/receiver.ts';

// So that time can be faked.
vi.mock('../../src/system/real-time.ts', () => import('../helpers/replaceable-time.ts'));

const sends = (body: string) => (response: ServerResponse) => void response.end(body);

const speaksNoHttp = (response: ServerResponse): void => void response.socket?.end('SSH-2.0-x\r\n');

const MERCHANT = { id: 'mer_x', name: 'Shop', isDefault: true, publicKey: 'pub_x', secretKey: 'sec_x' };

/** A client whose server was an emulator when it connected, and then sends the given responses. */
async function connected(
  answer: (response: ServerResponse, method?: string) => void,
  timeout: string | undefined,
) {
  let isFirst = true;
  const url = await startAnswering(({ method }, response) => {
    response.setHeader('X-Gateway-Sim', '1');
    if (isFirst) response.end(JSON.stringify({ data: [MERCHANT] }));
    else answer(response, method);
    isFirst = false;
  });
  return connectGatewaySim(url, { timeout });
}

describe('a client whose emulator', () => {
  it.each([
    ['stops mid-response', BROKEN.hangs, 'timed_out'],
    ['sends nothing', (): void => {}, 'timed_out'],
    ['resets the connection', BROKEN.resets, 'no_server'],
    ['sends broken gzip', BROKEN.encodesBadly, 'check_failed'],
    ['sends an endless response', BROKEN.endless, 'body_too_large'],
    ['truncates its JSON', sends('{"data":['), 'no_server'],
    ['does not speak HTTP', speaksNoHttp, 'no_server'],
  ] as const)('%s gets a GatewayError', async (_, answer, code): Promise<void> => {
    const client = await connected(answer, code === 'timed_out' ? '500ms' : undefined);
    await expect(client.payments.list()).rejects.toMatchObject({ name: 'GatewayError', code });
  });
});

describe('a connection', () => {
  it.each(['{}', '[]', 'null', '{"data":null}', '<html>'])(
    'is not made to a server that answers %s',
    async (body) => {
      const { url } = await startReceiver([{ body, headers: { 'X-Gateway-Sim': '1' } }]);
      const why = { name: 'GatewayError', code: 'no_server' };
      await expect(connectGatewaySim(url)).rejects.toMatchObject(why);
    },
  );

  it('requests unencoded responses', async () => {
    const { url, requests } = await startReceiver();
    await expect(connectGatewaySim(url)).rejects.toMatchObject({ code: 'no_server' });
    expect(requests.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
  });

  it('has a time limit', async () => {
    const { url } = await startReceiver(['hang']);
    await expect(connectGatewaySim(url, { timeout: '50ms' })).rejects.toMatchObject({
      code: 'timed_out',
      message: `${new URL(url).host} timed out after 0.05 s`,
    });
    await expect(connectGatewaySim(url, { timeout: 'soon' })).rejects.toMatchObject({ code: 'usage' });
  });

  it('has a total time limit, even if the server keeps sending single bytes', async () => {
    const url = await startAnswering((_, response) => {
      response.setHeader('X-Gateway-Sim', '1');
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    await expect(connectGatewaySim(url, { timeout: '300ms' })).rejects.toMatchObject({ code: 'timed_out' });
  });

  it('holds no call for more than five minutes, even if the server keeps sending single bytes', async () => {
    const begun = gate();
    let written = 0;
    const url = await startAnswering((_, response) => {
      response.setHeader('X-Gateway-Sim', '1');
      const drip = setInterval(() => {
        response.write(' ');
        // The client has read some of them.
        if (++written === 10) begun.open();
      }, 20);
      response.on('close', () => clearInterval(drip));
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const called = controlServer({ url }).call('GET /payments', { query: {} });
    await begun.opened;
    vi.advanceTimersByTime(300_000);
    await expect(called).rejects.toMatchObject({ code: 'timed_out' });
  });

  it('rejects a token that is not allowed in a header', async () => {
    const { url } = await startReceiver();
    const connecting = connectGatewaySim(url, { controlToken: 'to\nken' });
    await expect(connecting).rejects.toMatchObject({ code: 'usage' });
  });

  it('waits longer for calls that wait for receivers', async () => {
    const waiting: ServerResponse[] = [];
    const client = await connected((response, method) => {
      if (method === 'POST') waiting.push(response);
    }, '500ms');
    const approved = client.payments.approve('order-1');
    await expect(client.payments.list()).rejects.toMatchObject({ code: 'timed_out' });
    waiting[0]?.end('{"payment":{},"redirectUrl":null}');
    expect(await approved).toEqual({ payment: {}, redirectUrl: null });
  });
});

describe('an argument', () => {
  it.each([
    ['a circle', (circle: Record<string, unknown>) => Object.assign(circle, { circle })],
    ['a bigint', (values: Record<string, unknown>) => Object.assign(values, { version: 1n })],
  ])('that cannot be sent is rejected: %s', async (_, change) => {
    const client = await connected(sends('{}'), undefined);
    await expect(client.restore(change({}) as never)).rejects.toMatchObject({
      name: 'GatewayError',
      code: 'usage',
    });
  });
});
