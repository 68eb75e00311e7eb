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

it.skipIf(!HAS_CURL)(
  `an IPN has the headers and the bytes of curl${HAS_CURL ? '' : ' (curl is missing here)'}`,
  async () => {
    const sim = await startSim();
    const receiver = await startReceiver();
    const ipnUrl = `${receiver.url.replace('//', '//shop:p%40ss%20word@')}/ipn?order=1&x=%7e`;
    const { payment } = await paid(sim, { ipn_url: ipnUrl });
    expect(payment.ipnUrl).toBe(ipnUrl);
    const ipn = await receiver.request(1);
    await promisify(execFile)('curl', ['--silent', '--data-raw', ipn.body, ipnUrl]);
    const curl = await receiver.request(2);
    expect([ipn.method, ipn.url, ipn.body]).toEqual([curl.method, curl.url, curl.body]);
    expect(headersOf(ipn.rawHeaders)).toEqual(headersOf(curl.rawHeaders));
    expect(headersOf(curl.rawHeaders)).toContainEqual(['Authorization', 'Basic c2hvcDpwQHNzIHdvcmQ=']);
  },
);
