import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/contract/audit.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { launch, run } from '../helpers/binary.ts';
import { hangingCommand } from '../helpers/shells.ts';
import { prepare } from '../merchants/running.ts';

const ONE = ['--only', 'signature-missing'];

/** What a script of Node does, as a command line. */
const script = (code: string, ...args: string[]) =>
  `"${process.execPath}" -e '${code}' ${args.join(' ')}`.trim();
const ORDER = 'fetch(process.argv[1], { method: "POST" })';

describe('what goes wrong with an audit', () => {
  const HANG = script('setInterval(() => {}, 1e3)');

  it.each([
    [
      'an order command that hangs',
      { order: HANG },
      'did not end within 1 s|initiated no payment within 1 s',
    ],
    ['an order command that fails', { order: 'echo broken >&2; exit 7' }, 'exited with 7: broken'],
    ['an order command that initiates nothing', { order: 'true' }, 'initiated no payment within 1 s'],
    ['a probe that hangs', { probe: `${HANG} {identifier}` }, 'did not end within 1 s'],
    ['a probe that fails', { probe: 'false {identifier}' }, 'exited with 1'],
    ['a probe that prints nothing', { probe: 'true {identifier}' }, 'the probe said nothing about'],
  ])('is told: %s', async (_, { order, probe }: { order?: string; probe?: string }, why) => {
    const { audit, url } = await prepare('node');
    const by = [
      ...(order === undefined ? ['--order-url', `${url}/order`] : ['--order-cmd', order]),
      ...(probe === undefined ? ['--probe-url', `${url}/orders/{identifier}`] : ['--probe-cmd', probe]),
    ];
    // What takes no second by itself must have more of them on a busy machine.
    const limit = why.includes('within 1 s') ? '1s' : '60s';
    const { code, stdout, stderr } = await audit([...ONE, '--timeout', limit, '--json'], by);
    const { cases } = JSON.parse(stdout) as AuditReport;
    expect([code, stderr]).toEqual([1, expect.stringContaining('the audit could not be carried out')]);
    expect(cases.map(({ verdict }) => verdict)).toEqual(['unproven', 'unproven']);
    expect(cases[0]?.why).toMatch(new RegExp(why));
  });

  it('is told: that it was interrupted, and no payment stays pending', async () => {
    const { url, cwd, env } = await prepare('node');
    const probing = ['--probe-url', `${url}/orders/{identifier}`, '--paid-when', '.status=paid'];
    const audit = launch(['audit', `${url}/ipn`, '--order-url', `${url}/order`, ...probing], { cwd, env });
    await audit.until((_, stderr) => stderr.includes('[5/'));
    process.kill(audit.pid, 'SIGINT');
    const { code, stderr } = await audit.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('the audit was interrupted')]);
    const pending = await run(['payments', 'list', '--status', 'pending', '--json'], { cwd, env });
    expect(JSON.parse(pending.stdout)).toMatchObject({ data: [] });
  });

  it.each([
    ['SIGTERM', ['SIGTERM']],
    ['SIGHUP', ['SIGHUP']],
    ['a second Ctrl-C', ['SIGINT', 'SIGINT']],
  ] as const)('ends by %s, with its order command, and no payment stays pending', async (_, signals) => {
    const { url, cwd, env } = await prepare('node');
    const { cmd, pids } = hangingCommand(cwd);
    const order = script(`${ORDER}.then(() => console.log(1))`, `${url}/order`);
    const hanging = ['--order-cmd', `${order}; ${cmd}`, '--timeout', '1h'];
    const audit = launch(['audit', `${url}/ipn`, ...hanging], { cwd, env });
    const started = await pids();
    for (const [index, signal] of signals.entries()) {
      if (index) await audit.until((_, stderr) => stderr.includes('Ctrl-C again ends it at once'));
      process.kill(audit.pid, signal);
    }
    expect(await audit.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the audit was interrupted'),
    });
    await expect.poll(() => started.filter(isAlive)).toEqual([]);
    const list = await run(['payments', 'list', '--json'], { cwd, env });
    expect(JSON.parse(list.stdout)).toMatchObject({ data: [{ status: 'canceled', settledBy: 'audit' }] });
  });

  it('is told: two payments from one order', async () => {
    const { audit, url } = await prepare('node');
    const cmd = script(`${ORDER}.then(() => ${ORDER})`, `${url}/order`);
    const by = ['--order-cmd', cmd, '--probe-url', `${url}/orders/{identifier}`];
    const { code, stderr } = await audit(ONE, by);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('several payments at once: the first of them'),
    ]);
  });

  it('is told: a probe that changes by itself', async () => {
    const { audit, url } = await prepare('node');
    const look = script(
      'fetch(process.argv[1]).then((a) => a.text()).then((t) => console.log(t, process.hrtime.bigint()))',
      `${url}/orders/{identifier}`,
    );
    const by = ['--order-url', `${url}/order`, '--probe-cmd', look];
    const { code, stderr } = await audit(['--only', 'control', '--paid-when', '/"paid"/'], by);
    expect([code, stderr]).toEqual([0, expect.stringContaining('is there a clock in it?')]);
  });

  it('is told: a receiver that is down', async () => {
    const { cwd, env } = await prepare('node');
    const { code, stdout } = await run(['audit', 'http://127.0.0.1:9/ipn', ...ONE], { cwd, env });
    expect([code, stdout]).toEqual([1, expect.stringContaining('connection refused')]);
  });
});
