import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { held, linesNamed } from '../helpers/conform.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';

const hasOpenssl = spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0;

/** A server that answers as it is told. */
async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a target', () => {
  const keys = { publicKey: 'pub_x', secretKey: 'sec_x' };

  it.each(['<html></html>', '[]', '{"status":"ok"}', '"error"'])(
    'that answers %s three times is no such gateway',
    async (body) => {
      let asked = 0;
      const url = await startServer((_, response) => {
        asked++;
        response.end(body);
      });
      await expect(held({ url, ...keys })).rejects.toMatchObject({
        code: 'no_server',
        message: expect.stringContaining('is no gateway of this interface'),
      });
      expect(asked).toBe(3);
    },
  );

  it('that redirects is said to, with where', async () => {
    const url = await startServer((_, response) => {
      response.writeHead(301, { Location: 'https://www.pay.example/' }).end();
    });
    await expect(held({ url, ...keys })).rejects.toMatchObject({
      message: expect.stringContaining('it redirects to https://www.pay.example/'),
    });
  });

  it('that is down is said to be', async () => {
    await expect(held({ url: 'http://127.0.0.1:9', ...keys })).rejects.toMatchObject({
      code: 'no_server',
      message: expect.stringContaining('connection refused'),
    });
  });

  it.runIf(hasOpenssl)('whose certificate nobody trusts is not asked (where there is openssl)', async () => {
    const folder = await temporaryFolder();
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const make = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    spawnSync('openssl', [...make, '-days', '1', '-subj', '/CN=localhost', '-keyout', key, '-out', cert]);
    let asked = 0;
    const server = createSecureServer({ key: await readFile(key), cert: await readFile(cert) }, () => {
      asked++;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    await expect(held({ url, ...keys })).rejects.toMatchObject({
      code: 'no_server',
      message: expect.stringMatching(
        /certificate of localhost:\d+ is not trusted: .*--tls-ca or in NODE_EXTRA_CA_CERTS$/,
      ),
    });
    expect(asked).toBe(0);
  });

  it('that does not know a key is said to', async () => {
    const { url, publicKey, secretKey } = await startSim();
    const wrong = held({ url, publicKey: 'pub_wrong_0001', secretKey });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_api_key', message: /public key pub_wron…$/ });
    const alsoWrong = held({ url, publicKey, secretKey: 'sec_wrong_0001' });
    await expect(alsoWrong).rejects.toMatchObject({ message: /secret key sec_wron…$/ });
    await expect(held({ url, publicKey: '', secretKey: '' })).rejects.toMatchObject({
      message: /asks for a public/,
    });
  });
});

describe('an answer that does not come', () => {
  const lines = linesNamed('initiate-sandbox', 'initiate-answer-json', 'initiate-cors', 'initiate-url');

  /** An emulator behind a server that lets the connections of some requests go. */
  async function behind(isLost: (count: number) => boolean) {
    const sim = await startSim();
    let count = 0;
    const url = await startServer(async (incoming, outgoing) => {
      if (incoming.url?.endsWith('/initiate') && isLost(count++)) return void incoming.socket.destroy();
      const { method = '', headers } = incoming;
      const body = method === 'POST' ? await text(incoming) : null;
      const { authorization = '', 'content-type': type = '' } = headers;
      const passed = { method, headers: { authorization, 'Content-Type': type }, body };
      const answer = await fetch(sim.url + incoming.url, passed);
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    });
    return { ...sim, url };
  }

  it('is a difference of its line', async () => {
    const { report } = await held(await behind((count) => count === 2), {}, { lines });
    expect(report).toMatchObject({ agree: 3, unseen: [] });
    expect(report.differ).toMatchObject([
      { expected: 'an answer', got: expect.stringContaining('closed the connection without an answer') },
    ]);
  });

  it('three times in a row means that the target is gone', async () => {
    const target = await behind((count) => count > 0);
    await expect(held(target, {}, { lines })).rejects.toMatchObject({ code: 'no_server' });
  });
});

it('leaves a line unseen whose pattern takes forever on what came', async () => {
  const sim = await startSim();
  const [line] = linesNamed('initiate-sandbox');
  if (!line) throw new Error('there is no such line');
  const lines = [{ ...line, expect: { matches: { message: '^((a|[^b])+)+b$' } } }];
  const { report } = await held(sim, {}, { lines });
  expect(report).toMatchObject({
    ...{ agree: 0, differ: [] },
    unseen: [{ why: expect.stringContaining('takes too long to match') }],
  });
});

it('shows no key of ours in any report', async () => {
  const { publicKey, secretKey } = await startSim();
  const url = await startServer((incoming, outgoing) => {
    const body = {
      error: 'true',
      message: `no ${secretKey} at ${incoming.headers.authorization ?? publicKey}`,
    };
    outgoing.end(JSON.stringify(body));
  });
  const lines = linesNamed('card-create', 'initiate-sandbox');
  const { report } = await held({ url, publicKey, secretKey }, {}, { lines });
  expect(report.differ).toHaveLength(2);
  for (const key of [publicKey, secretKey]) expect(JSON.stringify(report)).not.toContain(key);
});
