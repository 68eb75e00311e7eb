import { describe, expect, it } from 'vitest';
import { eventLines } from '../../src/cli/format.ts';
import { Printed } from '../../src/cli/printed.ts';
import type { Delivery as DeliveryView } from '../../src/contract/delivery.ts';
import { PLAIN } from '../../src/contract/error.ts';
import type { SimEvent } from '../../src/contract/event.ts';
import { run, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { dueDelivery, REPORT } from '../helpers/records.ts';

const at = '2026-01-15T10:00:09.000Z';

/** The lines of the log about an IPN that was answered 200. */
function linesOf(how: Pick<DeliveryView, 'changes' | 'verdict'>) {
  const url = 'http://127.0.0.1:3000/ipn';
  const known = { id: 'ipn_1', body: 'status=success', state: 'failed', nextAttemptAt: null } as const;
  const { attemptCount: _, signedWith: __, ...record } = dueDelivery(url, known);
  const delivered: DeliveryView['attempts'][number] = {
    ...{ ...REPORT, url, id: 'att_1', number: 1 },
    failure: { code: 'answered' },
    error: null,
  };
  const delivery: DeliveryView = {
    ...record,
    note: null,
    attempts: [delivered],
    underWay: null,
    forwardedTo: null,
    changesUnknown: null,
    ...how,
  };
  const event: SimEvent = { seq: 1, at, type: 'delivery', step: 'attempted', delivery };
  return eventLines(event, { colour: Printed.colours(false), style: PLAIN }).map(({ text }) => text);
}

it('a line of the log has the time of the event, not of the start of the attempt', () => {
  const [line] = linesOf({ changes: null, verdict: { tone: 'bad', cause: 'It failed.', fix: null } });
  const time = new Date(at).toTimeString().slice(0, 8);
  expect(line).toBe(
    `${time}  <--  IPN POST http://127.0.0.1:3000/ipn  200 not accepted  23 ms  order-1  attempt 1`,
  );
  const [forged] = linesOf({
    changes: null,
    verdict: { tone: 'bad', cause: 'It failed.', fix: null, forgeryAccepted: true },
  });
  expect(forged).toContain('  200 forged IPN accepted  ');
});

it('only lines that need somebody are marked', () => {
  const changes = [{ table: 'orders', key: '1', column: 'status', from: 'pending', to: 'paid' }];
  const [, changed] = linesOf({ changes, verdict: { tone: 'good', cause: 'Delivered.', fix: null } });
  expect(changed).toBe('               your shop: orders 1 status pending → paid');
  const verdict = { tone: 'bad', cause: 'It failed.', fix: 'Do it.' } as const;
  const [, ...bad] = linesOf({ changes, verdict });
  expect(bad.slice(0, 3)).toEqual([changed, '          !    It failed.', '          !    Fix: Do it.']);
  const notice = (more: object) =>
    eventLines(
      { seq: 1, at, type: 'notice', text: 'hello', ...more },
      { colour: Printed.colours(false), style: PLAIN },
    )[0]?.text.slice(8);
  expect([notice({}), notice({ warning: true })]).toEqual(['       hello', '  !    hello']);
});

describe('gateway-sim payments show', () => {
  async function paid(body = 'thanks'): Promise<{ cwd: string }> {
    const cwd = await temporaryFolder();
    const receiver = await startReceiver([{ body }]);
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

  it('shows the text of a page that its handler answered, without its style', async () => {
    const page = `<!DOCTYPE html>
<html><head><title>WordPress &rsaquo; Error</title><style>html { background: #f1f1f1; }</style></head>
<body id="error-page"><div class="wp-die-message"><p>Bad signature</p></div></body></html>`;
    const { stdout } = await run(['payments', 'show', "it's 1"], await paid(page));
    expect(stdout).toMatch(
      /< WordPress Error\n +< Bad signature\n +< \(the text of a page of \d+ characters, which --json shows\)/,
    );
    expect(stdout).toContain('rejects the IPN: “Bad signature”');
    expect(stdout).not.toContain('background');
  });
});
