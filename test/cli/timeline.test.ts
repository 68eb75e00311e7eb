import { describe, expect, it } from 'vitest';
import { eventLines } from '../../src/cli/format.ts';
import { harOf } from '../../src/cli/har.ts';
import { Printed } from '../../src/cli/printed.ts';
import type { Delivery as DeliveryView } from '../../src/contract/delivery.ts';
import { PLAIN } from '../../src/contract/error.ts';
import type { SimEvent } from '../../src/contract/event.ts';
import { run, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { dueDelivery } from '../helpers/records.ts';

/** A delivery with one attempt, as the control API shows it. */
function delivery(changes: Partial<DeliveryView> = {}): DeliveryView {
  const url = 'http://127.0.0.1:3000/ipn';
  const known = { id: 'ipn_1', body: 'status=success', state: 'failed', nextAttemptAt: null } as const;
  const { attemptCount: _, signedWith: __, ...record } = dueDelivery(url, known);
  const verdict = { tone: 'bad', cause: 'It failed.', fix: null } as const;
  return {
    ...record,
    note: null,
    attempts: [],
    underWay: null,
    forwardedTo: null,
    changes: null,
    verdict,
    ...changes,
  };
}

function attempt(changes: Partial<DeliveryView['attempts'][number]> = {}): DeliveryView['attempts'][number] {
  return {
    id: 'att_1',
    number: 1,
    startedAt: '2026-01-15T10:30:01.000Z',
    durationMs: 12.5,
    url: 'http://127.0.0.1:3000/ipn?a=1&b=%20x',
    requestHeaders: [
      ['Host', '127.0.0.1:3000'],
      ['Content-Type', 'application/json'],
      ['Content-Length', '2'],
      ['X-Gateway-Sim', '1'],
      ['Connection', 'keep-alive'],
    ],
    requestBody: '{}',
    responseStatus: 302,
    responseHeaders: [
      ['Location', '/elsewhere'],
      ['Content-Type', 'text/plain'],
    ],
    responseBody: 'né',
    failure: { code: 'answered' },
    fault: null,
    error: 'redirects are not followed',
    ...changes,
  };
}

describe('deliveries as HAR', () => {
  it('have an entry for each attempt, ordered by start', () => {
    const late = attempt({ startedAt: '2026-01-15T10:40:00.000Z', number: 2 });
    const { log } = harOf(
      [delivery({ attempts: [attempt(), late] }), delivery({ id: 'ipn_2', attempts: [attempt()] })],
      '1.2.3',
    );
    expect(log).toMatchObject({ version: '1.2', creator: { name: 'gateway-sim', version: '1.2.3' } });
    expect(log.entries.map(({ comment }) => comment.split(':')[0])).toEqual([
      'ipn_1 attempt 1',
      'ipn_2 attempt 1',
      'ipn_1 attempt 2',
    ]);
  });

  it('have the request and the response', () => {
    const [entry] = harOf([delivery({ attempts: [attempt()] })], '1.2.3').log.entries;
    expect(entry).toEqual({
      startedDateTime: '2026-01-15T10:30:01.000Z',
      time: 12.5,
      request: {
        method: 'POST',
        url: 'http://127.0.0.1:3000/ipn?a=1&b=%20x',
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: expect.arrayContaining([{ name: 'X-Gateway-Sim', value: '1' }]),
        queryString: [
          { name: 'a', value: '1' },
          { name: 'b', value: ' x' },
        ],
        postData: { mimeType: 'application/json', params: [], text: '{}' },
        headersSize: -1,
        bodySize: 2,
      },
      response: {
        status: 302,
        statusText: 'Found',
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: [
          { name: 'Location', value: '/elsewhere' },
          { name: 'Content-Type', value: 'text/plain' },
        ],
        content: { size: 3, mimeType: 'text/plain', text: 'né' },
        redirectURL: '/elsewhere',
        headersSize: -1,
        bodySize: 3,
      },
      cache: {},
      timings: { send: 0, wait: 12.5, receive: 0 },
      comment: 'ipn_1 attempt 1: redirects are not followed',
    });
  });

  it('have status 0 without a response', () => {
    const silent = attempt({ responseStatus: null, responseHeaders: [], responseBody: null });
    const [entry] = harOf([delivery({ attempts: [silent] })], '1.2.3').log.entries;
    expect(entry?.response).toMatchObject({ status: 0, statusText: '', headers: [], bodySize: -1 });
  });
});

it('a line of the log has the time of the event, not of the start of the attempt', () => {
  const at = '2026-01-15T10:00:09.000Z';
  const delivered = attempt({ startedAt: '2026-01-15T10:00:01.000Z', responseStatus: 200, error: null });
  const event: SimEvent = {
    ...{ seq: 1, at, type: 'delivery', step: 'attempted' },
    delivery: delivery({ attempts: [delivered] }),
  };
  const [line] = eventLines(event, { colour: Printed.colours(false), style: PLAIN });
  const time = new Date(at).toTimeString().slice(0, 8);
  expect(line?.text).toBe(
    `${time}  <--  IPN POST http://127.0.0.1:3000/ipn  200 not accepted  12.5 ms  order-1  attempt 1`,
  );
});

describe('gateway-sim payments show', () => {
  async function paid(): Promise<{ cwd: string }> {
    const cwd = await temporaryFolder();
    const receiver = await startReceiver([{ body: 'thanks' }]);
    await startIn(cwd);
    await run(['payments', 'create', '--identifier', "it's 1", '--ipn-url', `${receiver.url}/ipn`], { cwd });
    await run(['pay', '--approve'], { cwd });
    return { cwd };
  }

  it('shows the timeline of a payment, with request and response of its IPN', async () => {
    const options = await paid();
    const { code, stdout } = await run(['payments', 'show', "it's 1"], options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Initiated[\s\S]*Settled[\s\S]*IPN attempt[\s\S]*> POST http[\s\S]*< HTTP 200/);
    expect(stdout).toContain('< thanks');
  });

  it('prints its IPNs as curl commands and as HAR', async () => {
    const options = await paid();
    const curl = await run(['payments', 'show', "it's 1", '--curl'], options);
    expect(curl.stdout).toMatch(/ --data-raw 'status=success&signature=[0-9A-F]{64}&identifier=it%27s\+1&/);
    const har = await run(['payments', 'show', "it's 1", '--har'], options);
    expect(JSON.parse(har.stdout)).toMatchObject({
      log: { version: '1.2', entries: [{ response: { status: 200, content: { text: 'thanks' } } }] },
    });
    const both = await run(['payments', 'show', "it's 1", '--har', '--curl'], options);
    expect([both.code, both.stdout]).toEqual([2, '']);
  });
});
