import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startBinary } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { rawExchange } from '../helpers/raw.ts';
import { sample } from '../helpers/scope.ts';
import { ask, idOf, ORDER, startSim } from '../helpers/sim.ts';

const MIB = 2 ** 20;
const PATH = '/sandbox/payment/initiate';
const FORM = 'application/x-www-form-urlencoded';

/** Posts a body of this size with `fetch`. */
function post(url: string, bytes: number, chunked: boolean): Promise<Response> {
  const whole = Buffer.alloc(bytes, 'a');
  const body = chunked ? new Blob([whole]).stream() : whole;
  const init = { method: 'POST', headers: { 'Content-Type': FORM }, body, duplex: 'half' };
  return fetch(url + PATH, init as RequestInit);
}

/** Writes everything before it reads, as blocking clients do. Resolves with the whole response. */
function postBlocking(
  port: number,
  bytes: number,
  chunked: boolean,
  { path = PATH, type = FORM } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nConnection: close\r\n`;
    const body = Buffer.alloc(bytes, 'a');
    socket.write(
      chunked
        ? `${head}Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n`
        : `${head}Content-Length: ${bytes}\r\n\r\n`,
    );
    let text = '';
    socket.write(body, () => {
      if (chunked) socket.write('\r\n0\r\n\r\n');
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.resume();
    });
    socket.on('error', (error) => reject(new Error(`${error.message} after: ${text}`)));
    socket.on('close', () => resolve(text));
  });
}

const SIZES = [
  ['just over 1 MiB', MIB + 1],
  ['10 MiB', 10 * MIB],
] as const;
const ENCODINGS = [
  ['with a Content-Length', false],
  ['in chunks', true],
] as const;
const OVERSIZED = SIZES.flatMap(([size, bytes]) =>
  ENCODINGS.map(([how, chunked]) => [`${size} ${how}`, bytes, chunked] as const),
);

it.each([PATH, '/_sim/payments/order-1/settle', '/_sim/snapshot'])(
  'a compressed body at %s gets 415, and its coding is named',
  async (path) => {
    const { url } = await startSim();
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    const method = path.endsWith('snapshot') ? 'PUT' : 'POST';
    const answer = await fetch(url + path, { method, headers, body: gzipSync('{}') });
    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({
      message: 'the body is compressed (Content-Encoding: gzip): send it uncompressed',
    });
    const plain = await fetch(url + PATH, {
      method: 'POST',
      headers: { ...headers, 'Content-Encoding': 'identity' },
      body: '{}',
    });
    expect(plain.status).toBe(200);
  },
);

describe('a large body', () => {
  it.each(OVERSIZED)(
    'gets 413 even if the client sends everything before it reads: %s',
    async (_, bytes, chunked) => {
      const sim = await startSim();
      const text = await postBlocking(sim.server.port, bytes, chunked);
      expect(text).toMatch(/^HTTP\/1\.1 413 /);
      expect(text).toContain('1 MiB');
    },
  );

  it.each([
    ['of an unknown type', PATH, 415],
    ['for no route', '/nowhere', 404],
    ['with the wrong method', '/_sim/status', 405],
  ])('gets its response although the server does not need it: %s', async (_, path, status) => {
    const sim = await startSim();
    const text = await postBlocking(sim.server.port, 10 * MIB, false, { path, type: 'text/plain' });
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it('gets a response even if the client never sends it', async () => {
    const sim = await startSim();
    const head = `POST ${PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${FORM}\r\nContent-Length: ${10 * MIB}\r\nConnection: close\r\n\r\n`;
    expect((await rawExchange(sim.server.port, head)).status).toBe(413);
  });

  it('is accepted with exactly 1 MiB', async () => {
    expect((await post((await startSim()).url, MIB, false)).status).toBe(200);
  });

  it('is also rejected by the control API and the checkout', async () => {
    const sim = await startSim();
    const checkout = await sim.initiate(ORDER);
    const id = idOf(checkout);
    const big = 'a'.repeat(2 * MIB);
    const headers = { 'Content-Type': FORM };
    const answers = await Promise.all([
      ask(sim, 'POST', `/payments/${id}/settle`, big),
      fetch(checkout.replace('checkout?', 'checkout/email?'), { method: 'POST', headers, body: big }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([413, 413]);
  });
});

async function memoryOf(pid: number, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(text)?.[1]) / 1024;
}

describe.runIf(process.platform === 'linux')('the memory of the process', () => {
  it.each(sample(ENCODINGS, ([, chunked]) => chunked))(
    'grows by less than 60 MiB while 10 MiB %s are rejected',
    async (_, chunked) => {
      const { ready } = await startBinary(['--in-memory', '--quiet'], { cwd: await temporaryFolder() });
      await post(ready.url, 100, chunked);
      const before = await memoryOf(ready.pid, 'VmHWM');
      for (let round = 0; round < 5; round++) {
        expect((await post(ready.url, 10 * MIB, chunked)).status).toBe(413);
      }
      expect((await memoryOf(ready.pid, 'VmHWM')) - before).toBeLessThan(60);
    },
  );
});
