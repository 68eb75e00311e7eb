import { readdirSync } from 'node:fs';
import { Chalk } from 'chalk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventLines } from '../../src/cli/format.ts';
import { harOf } from '../../src/cli/har.ts';
import { curlCommand, OBEYED_BY_TERMINALS, quoted } from '../../src/contract/curl.ts';
import type { Delivery as DeliveryView } from '../../src/contract/delivery.ts';
import { PLAIN } from '../../src/contract/error.ts';
import type { SimEvent } from '../../src/contract/event.ts';
import { run, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { dueDelivery } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { hostileText, printedBy, SHELLS } from '../helpers/shells.ts';

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

/** Replaces curl: prints its arguments, then its input. */
const CURL = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; [ "$word" != @- ] || cat; }`;

const END = 'end of a command';

/** The words of commands as a shell parses them, each followed by its piped body. */
function wordsIn(shell: readonly string[], commands: readonly string[]): string[][] {
  const script = commands.map((command) => `${command}\nprintf '\\0%s\\0' '${END}'\n`).join('');
  const printed = printedBy(shell, `${CURL}\n${script}`).join('\0');
  return printed
    .split(`\0${END}\0`)
    .slice(0, -1)
    .map((text) => {
      const all = text.split('\0');
      const at = all.indexOf('@-') + 1;
      return at ? [...all.slice(0, at), all.slice(at).join('\0')] : all.slice(0, -1);
    });
}

const words = (command: string): string[] => wordsIn(['sh'], [command])[0] ?? [];

describe('a delivery as a curl command', () => {
  it('has the address, headers and bytes of its last attempt', () => {
    const command = curlCommand(delivery({ attempts: [attempt()] }));
    expect(words(command)).toEqual([
      'http://127.0.0.1:3000/ipn?a=1&b=%20x',
      '-H',
      'Content-Type: application/json',
      '-H',
      'X-Gateway-Sim: 1',
      '--data-raw',
      '{}',
    ]);
  });

  it('has the request that will be sent before the first attempt', () => {
    expect(words(curlCommand(delivery()))).toEqual([
      'http://127.0.0.1:3000/ipn',
      '-H',
      'Content-Type: application/x-www-form-urlencoded',
      '--data-raw',
      'status=success',
    ]);
  });

  it('passes its body unchanged in every shell, without terminal control characters', () => {
    const bodies = [
      ...['\u001b[201~\nid\n', '\u0007', "it's \\ \u009b31m é", 'a\u202eb', "\u0007';touch PWNED #"],
      ...['-n \0 %s %% \\047 \\n\n\n', '\u0007'.repeat(9), '\r\n\u00077', '--\u0007'],
    ];
    const commands = bodies.map((body) => curlCommand(delivery({ body })));
    for (const command of commands) expect(command.search(OBEYED_BY_TERMINALS)).toBe(-1);
    expect(commands.join()).not.toContain("$'");
    for (const shell of SHELLS) {
      expect([shell, wordsIn(shell, commands).map((all) => all.at(-1))]).toEqual([shell, bodies]);
    }
  });

  it('consists of words that every shell reads unchanged, whatever they contain', async () => {
    const cwd = await temporaryFolder();
    const texts = fc.sample(
      hostileText.filter((text) => !text.includes('\0') && text.isWellFormed()),
      IS_RELEASE ? 10_000 : 300,
    );
    const written = texts.map(quoted);
    expect(written.filter((word) => word.search(OBEYED_BY_TERMINALS) >= 0)).toEqual([]);
    for (const shell of SHELLS) {
      const script = written.map((word) => `printf '%s\\0' ${word}\n`).join('');
      expect(printedBy(shell, script, { cwd })).toEqual([...texts, '']);
    }
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('prevents curl from treating an address as a pattern', () => {
    const url = 'http://[::1]:3000/ipn?ids[]={1,2}';
    expect(words(curlCommand(delivery({ url }))).slice(0, 2)).toEqual(['--globoff', url]);
  });
});

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
  const [line] = eventLines(event, { colour: new Chalk({ level: 0 }), style: PLAIN });
  const time = new Date(at).toTimeString().slice(0, 8);
  expect(line).toBe(
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
    expect(words(curl.stdout).at(-1)).toMatch(/^status=success&signature=[0-9A-F]{64}&identifier=it%27s\+1&/);
    const har = await run(['payments', 'show', "it's 1", '--har'], options);
    expect(JSON.parse(har.stdout)).toMatchObject({
      log: { version: '1.2', entries: [{ response: { status: 200, content: { text: 'thanks' } } }] },
    });
    const both = await run(['payments', 'show', "it's 1", '--har', '--curl'], options);
    expect([both.code, both.stdout]).toEqual([2, '']);
  });
});
