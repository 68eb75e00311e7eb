import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startReceiver } from '../helpers/receiver.ts';
import { paid, startSim } from '../helpers/sim.ts';

const HAS_CURL = spawnSync('curl', ['--version']).status === 0;

/** The headers of a request in their order, without those that only an emulator sends. */
const headersOf = (rawHeaders: readonly string[]) =>
  rawHeaders
    .flatMap((name, index) => (index % 2 ? [] : [[name, rawHeaders[index + 1]]]))
    .filter(([name = '']) => !/^(X-Gateway-Sim|User-Agent)/i.test(name));

it.skipIf(!HAS_CURL).each([
  ['credentials', 'shop:p%40ss%20word@', '/ipn?order=1&x=%7e'],
  ['credentials that are not UTF-8', 'us:caf%E9@', '/ipn'],
  ['credentials with a lone percent sign', 'us:100%@', '/ipn'],
  ['quotation marks and braces', '', "/ipn?q='x'&r={1}"],
  ['an encoded dot segment', '', '/a/%2e%2e/b'],
  ['dot segments', '', '/a/../b/./c'],
  ['an empty path', '', '?q=1'],
])(
  `an IPN has the headers and the bytes of curl: %s${HAS_CURL ? '' : ' (curl is missing here)'}`,
  async (_, credentials, target) => {
    const sim = await startSim();
    const receiver = await startReceiver();
    const ipnUrl = receiver.url.replace('//', `//${credentials}`) + target;
    const { payment } = await paid(sim, { ipn_url: ipnUrl, customer_name: 'A*' });
    expect(payment.ipnUrl).toBe(ipnUrl);
    const ipn = await receiver.request(1);
    await promisify(execFile)('curl', ['--silent', '--globoff', '--data-raw', ipn.body, ipnUrl]);
    const curl = await receiver.request(2);
    expect([ipn.method, ipn.url, ipn.body]).toEqual([curl.method, curl.url, curl.body]);
    expect(headersOf(ipn.rawHeaders)).toEqual(headersOf(curl.rawHeaders));
    // As PHP encodes it.
    expect(ipn.body).toContain('=A%2A&');
  },
);
