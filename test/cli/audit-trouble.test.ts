import { spawnSync } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditedCase, AuditReport } from '../../src/audit/report.ts';
import { writeReports } from '../../src/cli/write-file.ts';
import { shellWord } from '../../src/contract/curl.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { startAnswering } from '../helpers/answering.ts';
import { startAudited } from '../helpers/auditable.ts';
import { BINARY } from '../helpers/binary.ts';
import { launchProgram } from '../helpers/child.ts';
import { launch, run, runJson } from '../helpers/cli.ts';
import { hangingCommand } from '../helpers/shells.ts';

const CONTROL = ['--only', 'control'];

describe('a problem during an audit', () => {
  it('is reported: an interruption, after which no payment is pending', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    const audit = launch(['audit', shop.ipnUrl, ...byUrl, ...paidWhen, '--json'], options);
    // The control and the first attacks have their orders.
    await expect.poll(() => shop.orders.size).toBeGreaterThan(2);
    const { code, stdout, stderr } = await audit.stop('SIGINT');
    expect([code, stderr]).toEqual([130, expect.stringMatching(/cut short, because it was interrupted/)]);
    expect(JSON.parse(stdout)).toMatchObject({ interrupted: true, cases: expect.any(Array) });
    const { body } = await runJson(['payments', 'list', '--status', 'pending'], options);
    expect(body).toMatchObject({ data: [] });
  });

  it('is continued with --resume, without trying a finished case again', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    const args = ['audit', shop.ipnUrl, ...byUrl, ...paidWhen];
    const audit = launch(args, options);
    await expect.poll(() => shop.orders.size).toBeGreaterThan(2);
    expect((await audit.stop('SIGINT')).stderr).toContain('To continue, repeat the command with --resume.');
    const file = join(options.cwd, '.gateway-sim-audit.json');
    const kept = JSON.parse(await readFile(file, 'utf8')) as { finished: AuditedCase[] };
    const { name: finished } = kept.finished.at(-1) ?? {};
    for (const one of kept.finished) if (one.name === finished) one.why = 'finished before';
    await writeFile(file, JSON.stringify(kept));
    const again = ['--resume', '--only', `${finished},signature-empty`];
    const { body } = await runJson<AuditReport>([...args, ...again], options);
    expect(body.cases).toContainEqual(expect.objectContaining({ name: finished, why: 'finished before' }));
    const nothing = await run([...args, '--resume'], options);
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('left nothing to continue')]);
  });

  it.each([
    ['SIGTERM', ['SIGTERM']],
    ['SIGHUP', ['SIGHUP']],
    ['SIGQUIT', ['SIGQUIT']],
    ['a second Ctrl-C', ['SIGINT', 'SIGINT']],
  ] as const)(
    'can be %s, which ends the audit with its order command, and leaves no payment pending',
    async (_, signals) => {
      const { shop, options, byUrl, paidWhen } = await startAudited();
      const { cmd, pids } = hangingCommand(options.cwd);
      const place = `"${process.execPath}" -e 'fetch("${shop.url}/order", { method: "POST" })'`;
      const order = `${place}; ${cmd}`;
      const args = ['--order-cmd', order, ...byUrl.slice(2), ...paidWhen, '--timeout', '1h'];
      const audit = launch(['audit', shop.ipnUrl, ...args], options);
      const started = await pids();
      for (const [index, signal] of signals.entries()) {
        if (index)
          await audit.until((_, stderr) => stderr.includes('Press Ctrl-C again to stop immediately'));
        void audit.stop(signal);
      }
      expect(await audit.ended).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the audit was interrupted'),
      });
      await expect.poll(() => started.filter(isAlive)).toEqual([]);
      const { body } = await runJson(['payments', 'list', '--audits'], options);
      expect(body).toMatchObject({ data: [{ status: 'canceled', settledBy: 'audit' }] });
    },
  );

  it.runIf(process.platform === 'linux')(
    'can be the end of npm, which ends the audit with its order command',
    async () => {
      const { shop, options, byUrl, paidWhen } = await startAudited();
      const { cmd, pids } = hangingCommand(options.cwd);
      const orders = ['--order-cmd', cmd, '--timeout', '1h'];
      const args = ['audit', shop.ipnUrl, ...orders, ...byUrl.slice(2), ...paidWhen];
      // Like npm: through a shell that does not forward signals.
      const words = [process.execPath, BINARY, ...args].map(shellWord).join(' ');
      const script = `require('child_process').spawn('sh', ['-c', ${JSON.stringify(`${words}; true`)}], { stdio: 'inherit' });`;
      const env = { ...options.env, npm_command: 'exec' };
      const npm = launchProgram([process.execPath, '-e', script], { cwd: options.cwd, env });
      const started = await pids();
      npm.child.kill('SIGKILL');
      await expect.poll(() => started.filter(isAlive), { timeout: 5_000 }).toEqual([]);
      expect((await npm.ended).stderr).toContain('the audit was interrupted');
    },
  );

  it.each(['audit', 'reconcile'])('does not keep %s running if the emulator hangs', async (command) => {
    const { sim, shop, options, byUrl, paidWhen } = await startAudited();
    await shop.place();
    let isHanging = command === 'reconcile';
    const [requested, closed] = [new Set<string>(), new Set<string>()];
    const url = await startAnswering(async ({ method = '', url: path = '', headers }, response) => {
      if (isHanging && path.startsWith('/_sim/payments')) {
        requested.add(path);
        response.on('close', () => closed.add(path));
        return;
      }
      const answer = await fetch(sim.url + path, { method, headers: { accept: headers.accept ?? '*/*' } });
      response.setHeader('X-Gateway-Sim', '1').end(await answer.text());
    });
    const { cmd, pids } = hangingCommand(options.cwd);
    const args = {
      audit: [shop.ipnUrl, '--order-cmd', cmd, ...byUrl.slice(2), ...paidWhen, '--timeout', '1h'],
      reconcile: [...byUrl.slice(2), ...paidWhen],
    }[command];
    const running = launch([command, '--url', url, ...(args ?? [])], options);
    if (command === 'audit') await pids();
    isHanging = true;
    await expect.poll(() => requested.size).toBeGreaterThan(0);
    const began = performance.now();
    expect(await running.stop('SIGTERM')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was interrupted'),
    });
    // A single request to the emulator may take 30 s.
    expect(performance.now() - began).toBeLessThan(20_000);
    // An unanswered request must not keep the process alive either.
    await expect.poll(() => [...closed]).toEqual([...requested]);
  });

  it.each([
    ['a link', 'link.xml', 'it is a link'],
    ['a pipe', 'pipe.xml', 'it is a pipe'],
    ['in no folder', 'no/report.xml', 'there is no such file or folder'],
    ['in a file', 'aim/report.xml', 'a part of the path is a file, not a folder'],
    ['a name that is too long', 'x'.repeat(300), 'the name is too long'],
  ])('is reported before the first case: a report file that is %s', async (_, file, why) => {
    const { audit, shop, options } = await startAudited();
    const aim = join(options.cwd, 'aim');
    await writeFile(aim, 'mine');
    await symlink(aim, join(options.cwd, 'link.xml'));
    spawnSync('mkfifo', [join(options.cwd, 'pipe.xml')]);
    const { code, stderr } = await audit([...CONTROL, '--html', file]);
    expect([code, stderr]).toEqual([5, `gateway-sim: ${file} cannot be written: ${why}\n`]);
    expect([shop.orders.size, await readFile(aim, 'utf8')]).toEqual([0, 'mine']);
    // The path may have changed since the check.
    const { failure } = await writeReports([[file, () => 'x']], options.cwd);
    expect(failure).toMatch(why);
  });

  it('does not lose the report if its file cannot be written', async () => {
    const { audit, shop, options } = await startAudited();
    const { place } = shop;
    shop.place = async () => {
      // The disk may be full by then, or a folder may have the file's name.
      await mkdir(join(options.cwd, 'report.html'), { recursive: true });
      return place();
    };
    const { code, stdout, stderr } = await audit([...CONTROL, '--html', 'report.html']);
    expect([code, stderr]).toEqual([
      5,
      expect.stringContaining('report.html cannot be written: it is a folder'),
    ]);
    expect(stdout).toContain('The shop accepts a correct IPN.');
  });

  it('is reported: two payments for one order, neither of which stays pending', async () => {
    const { audit, shop, options } = await startAudited();
    const { place } = shop;
    shop.place = async () => {
      await place();
      await place();
    };
    const { code, stderr } = await audit(CONTROL);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('several payments: the audit uses the first'),
    ]);
    const pending = await run(['payments', 'list', '--status', 'pending', '--json'], options);
    expect(JSON.parse(pending.stdout).data).toEqual([]);
  });

  it('is reported: a receiver that is still down after --wait', async () => {
    const { options } = await startAudited();
    const { stderr } = await run(['audit', 'http://127.0.0.1:9/ipn', ...CONTROL, '--wait', '100ms'], options);
    expect(stderr).toContain('nothing is listening on 127.0.0.1:9 after 0.1 s');
  });
});
