import { describe, expect, it } from 'vitest';
import { eventLines } from '../../src/cli/format.ts';
import { Printed } from '../../src/cli/printed.ts';
import type { Delivery as DeliveryView } from '../../src/contract/delivery.ts';
import { PLAIN } from '../../src/contract/error.ts';
import type { SimEvent } from '../../src/contract/event.ts';
import { run, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { dueDelivery } from '../helpers/records.ts';

it('a line of the log has the time of the event, not of the start of the attempt', () => {
  const at = '2026-01-15T10:00:09.000Z';
  const url = 'http://127.0.0.1:3000/ipn';
  const known = { id: 'ipn_1', body: 'status=success', state: 'failed', nextAttemptAt: null } as const;
  const { attemptCount: _, signedWith: __, ...record } = dueDelivery(url, known);
  const delivered: DeliveryView['attempts'][number] = {
    id: 'att_1',
    number: 1,
    startedAt: '2026-01-15T10:00:01.000Z',
    durationMs: 12.5,
    url,
    requestHeaders: [],
    requestBody: '',
    responseStatus: 200,
    responseHeaders: [],
    responseBody: '',
    failure: { code: 'answered' },
    fault: null,
    error: null,
  };
  const delivery: DeliveryView = {
    ...record,
    note: null,
    attempts: [delivered],
    underWay: null,
    forwardedTo: null,
    changes: null,
    changesUnknown: null,
    verdict: { tone: 'bad', cause: 'It failed.', fix: null },
  };
  const event: SimEvent = { seq: 1, at, type: 'delivery', step: 'attempted', delivery };
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

  it('prints its IPNs as curl commands', async () => {
    const options = await paid();
    const curl = await run(['payments', 'show', "it's 1", '--curl'], options);
    expect(curl.stdout).toMatch(/ --data-raw 'status=success&signature=[0-9A-F]{64}&identifier=it%27s\+1&/);
  });
});
