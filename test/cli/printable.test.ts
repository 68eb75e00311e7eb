import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { auditMistakes, auditSummary } from '../../src/audit/summary.ts';
import { auditText } from '../../src/cli/commands/audit.ts';
import { eventLines } from '../../src/cli/format.ts';
import { Output, pairs, table } from '../../src/cli/output.ts';
import { escaped, onOneLine, Printed } from '../../src/cli/printed.ts';
import { OBEYED_BY_TERMINALS } from '../../src/contract/curl.ts';
import { PLAIN } from '../../src/contract/error.ts';
import { launch, run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER } from '../helpers/sim.ts';

const colour = Printed.colours(true);
const TITLE = '\u001b]0;owned\u0007';

describe('terminal output', () => {
  it('has our colours, line breaks and tabs', () => {
    const { text } = Printed.lines([Printed.line`${colour.bold('a')}\t${colour.red('b')}`, 'c\nd']);
    expect(text).toBe('\u001b[1ma\u001b[22m\t\u001b[31mb\u001b[39m\nc\nd');
    const plain = Printed.colours(false);
    expect(Printed.line`${plain.bold('a')} ${1}`.text).toBe('a 1');
  });

  it('has no colours from outside, whatever they look like', () => {
    const outside = colour.red('forged').text;
    const shown = '\\u001b[31mforged\\u001b[39m';
    for (const [printed, expected] of [
      [Printed.line`${outside}`, shown],
      [Printed.line`${colour.bold(outside)}`, `\u001b[1m${shown}\u001b[22m`],
      [Printed.lines([outside, Printed.line`${outside}`.wrapped('  ')]), `${shown}\n${shown}`],
    ] as const)
      expect(printed.text).toBe(expected);
    for (const isTTY of [true, false]) {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const terminal = { stdout: Object.assign(stdout, { isTTY }), stderr: Object.assign(stderr, { isTTY }) };
      const output = new Output({ ...terminal, env: {} } as never, {});
      output.line(outside);
      output.document(JSON.stringify(outside));
      output.show({
        json: null,
        text: `${pairs({ A: outside })}\n${table({ B: (row: string) => row }, [outside])}`,
      });
      output.notice(outside);
      output.fail(new Error(outside));
      const all = `${stdout.read()}${stderr.read()}`;
      expect(all).not.toContain('\u001b');
      expect(all.split('forged')).toHaveLength(7);
    }
  });

  it.each([
    [TITLE, '\\u001b]0;owned\\u0007'],
    ['\u001b[31;8mhidden', '\\u001b[31;8mhidden'],
    ['a\rb', 'a\\u000db'],
    ['abc\u202edcb', 'abc\\u202edcb'],
  ])('escapes control characters: %j', (text, shown) => {
    expect(escaped(text)).toBe(shown);
  });

  it('keeps JSON unchanged', () => {
    const value = { text: `${TITLE}\u009b\u007f\u202e é 🙂` };
    const text = escaped(JSON.stringify(value));
    expect(text).not.toMatch(OBEYED_BY_TERMINALS);
    expect(JSON.parse(text)).toEqual(value);
  });

  it('shows progress in one line of a terminal, which the next output replaces', () => {
    const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
    const output = new Output({ stdout, stderr, env: {} } as never, {});
    output.progress('1 of 3', 0);
    output.progress('2 of 3', 1);
    output.notice('the shop stopped');
    output.line('done');
    expect(String(stderr.read())).toBe('\r\u001b[K1 of 3\r\u001b[K2 of 3\r\u001b[Kthe shop stopped\n');
  });

  it('prints progress every ten seconds if it is not for a terminal', () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const output = new Output({ stdout, stderr, env: {} } as never, {});
    for (const seconds of [0, 4, 9, 12, 15, 23]) output.progress(`after ${seconds} s`, seconds * 1_000);
    expect(String(stderr.read())).toBe('after 12 s\nafter 23 s\n');
  });

  it('keeps values on one line', () => {
    expect(onOneLine('a\nb\u001b')).toBe('a\\u000ab\\u001b');
    expect(table({ A: (row: string) => row }, ['x\ny'])).toBe('A\nx\\u000ay');
    expect(pairs({ A: 'x\ny' })).toBe('A  x\\u000ay');
    const notice = { seq: 1, type: 'notice' as const, at: '2026-01-15T10:30:00.000Z', text: 'x\ny' };
    expect(Printed.lines(eventLines(notice, { colour, style: PLAIN })).text).toMatch(/x\\u000ay$/);
  });
});

it('an audit report has no colours or lines from a shop', () => {
  const forged = `x${colour.green('pass').text}\n    forged`;
  const one = { name: 'a', group: 'control', class: 'A', about: 'a', curl: null } as const;
  const bad = {
    mistake: 'signature-not-checked',
    cost: forged,
    instruction: null,
    code: null,
    fix: 'Check it.',
    unpaid: null,
    seen: null,
  };
  const cases = (['fail', 'unproven'] as const).map((verdict) => ({
    ...{ ...one, ...bad, verdict, sent: null, observed: forged, why: `${forged}!` },
  }));
  const summary = auditSummary(cases);
  const mistakes = auditMistakes(cases);
  const report = { cases, summary, mistakes, missing: forged, orders: 0, notices: [] };
  const { text: shown } = auditText(report, Printed.colours(false));
  expect(shown).toContain('x\\u001b[32mpass');
  expect(shown).not.toContain('\u001b');
  expect(shown).not.toMatch(/^ *forged/m);
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  new Output({ ...streams, env: {} } as never, {}).fail(new Error(forged));
  expect(streams.stderr.read().toString()).not.toContain('\u001b');
});

it('no output has control characters from a merchant or a receiver', async () => {
  const cwd = await temporaryFolder();
  const receiver = await startReceiver([{ status: 500, body: `${TITLE}\nforged` }]);
  const server = launch(['start', '--port', '0', '--public-key', 'pub_x'], { cwd });
  await server.until((stdout) => stdout.includes('Ctrl-C'));
  const url = /Base URL +(\S+)/.exec(server.stdout())?.[1] ?? '';
  const body = new URLSearchParams({
    ...ORDER,
    public_key: 'pub_x',
    identifier: `${TITLE}\nx`,
    details: `${TITLE}\n\u202e`,
    ipn_url: `${receiver.url}/ipn`,
    customer_name: TITLE,
    [`odd\n${TITLE}`]: '1',
  });
  const answer = await fetch(`${url}/payment/initiate`, { method: 'POST', body });
  expect(await answer.json()).toMatchObject({ success: 'ok' });
  const { data } = (await (await fetch(`${url}/_sim/payments`)).json()) as { data: { id: string }[] };
  const id = data[0]?.id ?? '';
  const commands = [
    ['pay', id, '--approve'],
    ['payments', 'list'],
    ['payments', 'show', id],
    ['payments', 'show', id, '--curl'],
    ['payments', 'list', '--json'],
    ['ipn', 'list'],
    ['logs'],
  ];
  const printed = [];
  for (const command of commands) {
    const { stdout, stderr } = await run(command, { cwd });
    expect(`${command.join(' ')}: ${stdout}`).toContain('owned');
    printed.push(stdout, stderr);
  }
  for (const text of [...printed, server.stdout(), server.stderr()]) {
    expect(text.replaceAll(OBEYED_BY_TERMINALS, '!!')).toBe(text);
    expect(text).not.toMatch(/^(x|forged)/m);
  }
});
