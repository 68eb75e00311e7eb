import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import * as tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Settled } from '../../src/contract/payment.ts';
import { readJson, request } from '../../src/library/control-client.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { listen } from '../helpers/answering.ts';
import { launchProgram, runProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { sample } from '../helpers/scope.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';
import { textUntil, tunnel } from '../helpers/tunnel.ts';
import { missing } from '../merchants/running.ts';

/*
 * Unmodified clients with the gateway's HTTPS host in their code: they reach the emulator through its proxy (or, in
 * Node, through gateway-sim/alias-hosts), and their own public host is mapped to the address that they listen on.
 */

const ALIAS = 'pay.example.com';
const SECRET_KEY = 'sec_sim_of_these_clients';
const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Two clients with different habits cover everything in which languages differ. */
const typical = (rows: readonly Habits[]) => sample(rows, (one) => rows.indexOf(one) < 2);

/** How a client encodes its request, detects success, finds the reason for a failure, and reads an IPN. */
type Habits = readonly [encoding: string, judge: string, readError: string, receive: string];

interface Placed {
  redirect?: string;
  /** Where the client receives IPNs. */
  port?: number;
  refused?: string;
}

/** An emulator, and the environment variables of a client that uses it. */
async function emulator(
  [encoding, judge, readError, receive]: Habits,
  total: string,
  more: StartOptions = {},
) {
  const shop = await startRelay();
  const sim = await startSim({
    ...{ tls: true, proxy: true, hostAlias: [ALIAS], forwardIpn: [`shop.example=127.0.0.1:${shop.port}`] },
    ...{ secretKey: SECRET_KEY, ipnFormat: receive === 'json' ? 'json' : 'form' },
    ...more,
  });
  const env = {
    ...{ PUBLIC_KEY: sim.publicKey, SECRET_KEY, TOTAL: total },
    ...{ ENCODING: encoding, JUDGE: judge, READ_ERROR: readError, RECEIVE: receive },
  };
  return { sim, shop, env, caFile: sim.server.tlsCa ?? '', proxy: `http://127.0.0.1:${sim.server.port}` };
}

/** A port that forwards to the port that the client prints later. */
async function startRelay() {
  const relay = { port: 0, leadTo: 0 };
  const server = createServer((socket) => {
    const onward = connect(relay.leadTo, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const one of [socket, onward]) one.on('error', () => {});
    socket.on('close', () => onward.destroy());
  });
  relay.port = await listen(server);
  return relay;
}

/** Starts a client. @returns a function that reads its next line of JSON */
function begin(command: readonly string[], env: Record<string, string>) {
  const { until, stdout } = launchProgram(command, { env });
  let count = 0;
  return async <Line>(): Promise<Line> => {
    const number = count++;
    await until((text) => text.split('\n').length > number + 1);
    return JSON.parse(stdout().split('\n')[number] ?? '') as Line;
  };
}

/** Pays a client's checkout through the emulator's own address. */
async function pay({ url, server }: Sim, redirect: string): Promise<Settled> {
  expect(redirect).toMatch(`${url}/sandbox/initiate/payment/checkout?payment_id=`);
  const id = new URL(redirect).searchParams.get('payment_id');
  const answer = await request(`${url}/_sim/payments/${id}/settle`, {
    ...{ method: 'POST', tlsCa: server.tlsCa, headers: { 'Content-Type': 'application/json' } },
    body: JSON.stringify({ outcome: 'approve', awaitDelivery: true }),
  });
  return (await readJson(answer)) as Settled;
}

const DELIVERED = { paid: true, host: 'shop.example' };

/** The reason that a client shows for a rejection: some prefer the word in `error` (observed). */
function shownRefusal([, , readError]: Habits) {
  const reason = readError === 'error-first' ? 'true' : 'amount must be a plain decimal greater than 0';
  return { refused: expect.stringContaining(reason) };
}

/** Runs a client that prints its steps on stdout: one order is paid, one is rejected. */
async function runClient(
  habits: Habits,
  command: readonly string[],
  reach: (emulator: { caFile: string; proxy: string; url: string }) => Record<string, string>,
) {
  const { sim, shop, env, caFile, proxy } = await emulator(habits, '49.90');
  const variables = { ...env, ...reach({ caFile, proxy, url: sim.url }) };
  const next = begin(command, variables);
  const { redirect = '', refused, port = 0 } = await next<Placed>();
  expect(refused).toBeUndefined();
  shop.leadTo = port;
  const { delivery, redirectUrl } = await pay(sim, redirect);
  expect(await next()).toEqual(DELIVERED);
  expect(delivery).toMatchObject({
    state: 'delivered',
    url: expect.stringContaining('https://shop.example/ipn?'),
  });
  expect(redirectUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/thanks\?order=/);
  const wrong = begin(command, { ...variables, TOTAL: '0' });
  expect(await wrong()).toEqual(shownRefusal(habits));
}

const noPython = missing('python');

const inPython = `a client in Python with proxy variables${noPython ? ` (${noPython})` : ''}`;

describe.skipIf(noPython)(inPython, () => {
  const python = ['python3', fileOf('client.py')];
  const reach = ({ caFile, proxy }: { caFile: string; proxy: string }) => ({
    ...{ https_proxy: proxy, SSL_CERT_FILE: caFile },
  });

  it.each(
    typical([
      ['urlencoded', 'url-alone', 'errors-first', 'nested'],
      ['json', 'error-named', 'errors-first', 'json'],
      ['urlencoded', 'success-present', 'message', 'bracket-keys'],
      ['multipart', 'success-ok', 'message', 'bracket-keys'],
      ['multipart', 'error-truthy', 'errors-first', 'nested'],
      ['json', 'success-ok', 'error-first', 'nested'],
    ]),
  )('sends %s, judges by %s, reads %s, receives %s', async (...habits) => {
    await runClient(habits, python, reach);
  });

  it('is paid by a visit to success_url if it accepts no IPN, and gets a warning about that', async () => {
    const started = await emulator(['multipart', 'url-alone', 'message', 'visit'], '49.90');
    const next = begin(python, { ...started.env, ...reach(started) });
    const { redirect = '', port = 0 } = await next<Placed>();
    started.shop.leadTo = port;
    const { payment, delivery, redirectUrl } = await pay(started.sim, redirect);
    expect(delivery?.attempts).toMatchObject([{ responseStatus: 405 }]);
    expect(payment.warnings).toContainEqual(expect.stringContaining('ipn_url and success_url are the same'));
    await fetch(redirectUrl ?? '');
    expect(await next()).toMatchObject({ paid: true });
  });

  it('loses the reason if rejections have an HTTP error status', async () => {
    const habits = ['urlencoded', 'success-ok', 'message', 'nested'] as const;
    const started = await emulator(habits, '0', { errorStatus: 'http' });
    const next = begin(python, { ...started.env, ...reach(started) });
    expect(await next()).toEqual({ refused: 'HTTP 422' });
  });
});

const NODE_HABITS = typical([
  ['json-over-https', 'error-set', 'errors-first', 'bracket-keys'],
  ['multipart', 'success-present', 'error-first', 'nested'],
  ['urlencoded', 'success-ok', 'message', 'bracket-keys'],
  ['json', 'error-truthy', 'message', 'nested'],
  ['json', 'url-alone', 'errors-first', 'json'],
]);
const CLIENT = fileOf('client.mjs');

describe('a client in Node, through gateway-sim/alias-hosts', () => {
  it.each(NODE_HABITS)('sends %s, judges by %s, reads %s, receives %s', async (...habits) => {
    const command = [process.execPath, '--import', fileOf('../../bin/alias-hosts.js'), CLIENT];
    await runClient(habits, command, ({ caFile, url }) => ({
      ...{ GATEWAY_SIM_URL: url, GATEWAY_SIM_HOST_ALIAS: ALIAS, NODE_EXTRA_CA_CERTS: caFile },
    }));
  });

  it('sends nothing to the real host, on any port', async () => {
    const { sim, env, caFile } = await emulator(['json', 'success-ok', 'message', 'json'], '1');
    const script = `for (const url of ['http://${ALIAS}/api/cards', 'https://${ALIAS}:8443/api/cards'])
      console.log(await fetch(url).then(async (answer) => answer.status + await answer.text(), String));`;
    const args = ['--import', fileOf('../../bin/alias-hosts.js'), '--input-type=module', '-e', script];
    const reach = { GATEWAY_SIM_URL: sim.url, GATEWAY_SIM_HOST_ALIAS: ALIAS, NODE_EXTRA_CA_CERTS: caFile };
    const { stdout } = await runProgram([process.execPath, ...args], { env: { ...env, ...reach } });
    expect(stdout).toMatch(/^400.*this port serves HTTPS only.*\n401.*Authorization/);
  });

  it('reports missing variables', async () => {
    const args = ['--import', fileOf('../../bin/alias-hosts.js'), '-e', '0'];
    const { code, stderr } = await runProgram([process.execPath, ...args]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('requires GATEWAY_SIM_URL and GATEWAY_SIM_HOST_ALIAS'),
    ]);
  });
});

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const obeysProxies = major >= 24 || (major === 22 && minor >= 21);
const noProxies = obeysProxies ? '' : ` (Node ${process.versions.node} has no NODE_USE_ENV_PROXY)`;

describe.skipIf(!obeysProxies)(`a client in Node with proxy variables${noProxies}`, () => {
  it.each(NODE_HABITS)('sends %s, judges by %s, reads %s, receives %s', async (...habits) => {
    await runClient(habits, [process.execPath, CLIENT], ({ caFile, proxy }) => ({
      ...{ https_proxy: proxy, NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: caFile },
    }));
  });
});

const noPhp = missing('php', 'curl');

describe.skipIf(noPhp)(`a client in PHP with proxy variables${noPhp ? ` (${noPhp})` : ''}`, () => {
  it.each(
    typical([
      ['multipart', 'success-ok', 'message', 'post'],
      ['urlencoded', 'success-loose', 'errors-first', 'request'],
      ['multipart', 'success-present', 'message', 'request'],
      ['multipart', 'url-alone', 'errors-first', 'post'],
      ['urlencoded', 'error-truthy', 'message', 'post'],
    ]),
  )('sends %s, judges by %s, reads %s, receives %s', async (...habits) => {
    const SHOP_FOLDER = await temporaryFolder();
    const placed = async (total: string) => {
      const { sim, shop, env, caFile, proxy } = await emulator(habits, total);
      const command = ['php', '-d', `curl.cainfo=${caFile}`, '-S', '127.0.0.1:0', fileOf('client.php')];
      const client = launchProgram(command, { env: { ...env, SHOP_FOLDER, https_proxy: proxy } });
      await client.until((_, stderr) => / started$/m.test(stderr));
      const [, url = '', port] = /\((http:.*?:(\d+))\) started/.exec(client.stderr()) ?? [];
      shop.leadTo = Number(port);
      return { sim, url, answer: (await (await fetch(`${url}/place`)).json()) as Placed };
    };
    const { sim, url, answer } = await placed('49.90');
    const { delivery } = await pay(sim, answer.redirect ?? '');
    expect(delivery?.state).toBe('delivered');
    expect(await (await fetch(`${url}/paid`)).json()).toEqual(DELIVERED);
    expect((await placed('0')).answer).toEqual(shownRefusal(habits));
  });
});

it('a client in Go sends several requests in one tunnel, although it also offers HTTP/2', async () => {
  const receiver = await startReceiver();
  const sim = await startSim({
    ...{
      tls: true,
      proxy: true,
      hostAlias: [ALIAS],
      forwardIpn: [`shop.example=127.0.0.1:${receiver.port}`],
    },
  });
  const { port, tlsCa } = sim.server;
  const ipn_url = 'https://shop.example/ipn';
  const fields = new URLSearchParams({ ...ORDER, public_key: sim.publicKey, ipn_url });
  fields.sort();
  const body = fields.toString();
  const { socket } = await tunnel(port, `${ALIAS}:443`);
  const secure = await new Promise<tls.TLSSocket>((resolve, reject) => {
    const trusted = { socket, ca: readFileSync(tlsCa ?? '', 'utf8'), servername: ALIAS };
    const offering = { ...trusted, ALPNProtocols: ['h2', 'http/1.1'] };
    const begun = tls.connect(offering, () => resolve(begun)).on('error', reject);
  });
  expect(secure.alpnProtocol).toBe('http/1.1');
  for (let count = 0; count < 2; count++) {
    const answer = textUntil(secure, '}');
    secure.write(
      `POST /sandbox/payment/initiate HTTP/1.1\r\nHost: ${ALIAS}\r\nUser-Agent: Go-http-client/1.1\r\n` +
        `Content-Length: ${body.length}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
        `Accept-Encoding: gzip\r\n\r\n${body}`,
    );
    const [head = '', json = ''] = (await answer).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 OK/);
    await pay(sim, (JSON.parse(json) as { url: string }).url);
  }
  expect(receiver.requests.map(({ headers }) => headers.host)).toEqual(['shop.example', 'shop.example']);
});
