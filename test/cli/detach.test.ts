import { execFileSync } from 'node:child_process';
import { copyFile, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ReadyEvent } from '../../src/cli/banner.ts';
import { isAlive, statOf } from '../../src/store/process-identity.ts';
import { run as runBinary } from '../helpers/binary.ts';
import { killGroup, type RunOptions } from '../helpers/child.ts';
import { run, runJson, startHere, startIn } from '../helpers/cli.ts';
import { temporaryFolder, withTmp } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';

/**
 * `start` with options to detach it; the emulator is killed at the end of the test. Resolves only when its stdout and
 * stderr are closed.
 */
async function detached(args: readonly string[], options: RunOptions) {
  const finished = await runBinary(['start', '--port', '0', '--json', ...args], options);
  const ready = JSON.parse(finished.stdout || 'null') as ReadyEvent;
  onTestFinished(() => {
    if (ready) killGroup(ready.pid);
  });
  return { ...finished, ready };
}

describe('start --detach', () => {
  it('returns when the emulator is ready, in its own session, and writes a log', async () => {
    const cwd = await temporaryFolder();
    const { code, stderr, stdout, ready } = await detached(['--detach'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`${JSON.stringify(ready)}\n`);
    expect(ready).toMatchObject({ event: 'ready', dataDir: join(cwd, '.gateway-sim'), controlToken: null });
    expect(Object.keys(ready)).toHaveLength(11);
    expect((await runJson<{ pid: number }>(['status'], { cwd })).body.pid).toBe(ready.pid);
    if (process.platform === 'linux') expect(statOf(ready.pid)[3]).toBe(String(ready.pid));
    await fetch(`${ready.url}/nowhere`);
    const { body } = await runJson(['stop'], { cwd });
    expect(body).toEqual({ stopped: true, url: ready.url, pid: ready.pid });
    expect(isAlive(ready.pid)).toBe(false);
    const log = join(cwd, '.gateway-sim', 'start.log');
    expect(await readFile(log, 'utf8')).toContain('/nowhere');
    expect((await stat(log)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['as JSON', ['--json']],
    ['as text', []],
  ])('prints the keys %s, and its log does not have them', async (_, flags) => {
    const cwd = await temporaryFolder();
    const secrets = { secretKey: 'sec_sim_0123456789abcdef', controlToken: 'token-0123456789abcdef' };
    const given = ['--secret-key', secrets.secretKey, '--control-token', secrets.controlToken];
    const start = ['start', '--detach', '--port', '0', ...given, ...flags];
    const { code, stdout } = await runBinary(start, { cwd });
    expect(code).toBe(0);
    for (const secret of Object.values(secrets)) expect(stdout).toContain(secret);
    if (flags.length) expect(JSON.parse(stdout)).toMatchObject({ event: 'ready', ...secrets });
    expect((await run(['stop'], { cwd })).code).toBe(0);
    const log = await readFile(join(cwd, '.gateway-sim', 'start.log'), 'utf8');
    for (const shown of ['sec_sim_…ef', 'token-01…ef']) expect(log).toContain(shown);
    for (const secret of Object.values(secrets)) expect(log).not.toContain(secret.slice(0, 12));
  });

  it('reports an emulator that is already running, or the options that differ', async () => {
    const cwd = await temporaryFolder();
    const { ready } = await detached(['--detach', '--loose', '--seed', 'a'], { cwd });
    const again = (...args: string[]) => run(['start', '--detach', '--json', ...args], { cwd });
    const same = ['--secret-key', ready.secretKey, '--auto-delay', '500ms'];
    for (const args of [[], ['--port', '0'], ['--port', String(ready.port), '--loose'], same]) {
      const { code, stdout, stderr } = await again(...args);
      expect([code, JSON.parse(stdout)]).toEqual([0, ready]);
      expect(stderr).toContain(`already running at ${ready.url}`);
    }
    for (const [flag, args] of [
      ['--seed', ['--loose', '--seed', 'b']],
      ['--currency', ['--currency', 'NPR:Rs']],
      ['--port', ['--port', '1']],
      ['--secret-key', ['--secret-key', 'sec_other']],
    ] as const) {
      const { code, stdout, stderr } = await again(...args);
      expect([code, stdout]).toEqual([5, '']);
      expect(stderr).toContain(
        `the emulator at ${ready.url} (process ${ready.pid}) was started with a different ${flag}\n`,
      );
    }
    await run(['stop'], { cwd });
  });

  it('opens a db.json that the user put into a new folder, and prints output for humans', async () => {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, '.gateway-sim'));
    const fixtures = new URL('../../fixtures/default.json', import.meta.url);
    await copyFile(fixtures, join(cwd, '.gateway-sim', 'db.json'));
    const { code, stdout, stderr } = await runBinary(['start', '--detach', '--port', '0'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    for (const fact of ['http://127.0.0.1:', 'pub_sim_', 'sec_sim_', '.gateway-sim/start.log', ' stop\n'])
      expect(stdout).toContain(fact);
    expect((await run(['stop'], { cwd })).code).toBe(0);
  });

  it('in memory writes nothing to the folder, and is stopped by its URL', async () => {
    const cwd = await temporaryFolder();
    const tmp = await temporaryFolder();
    const { ready } = await detached(['--detach', '--in-memory'], { cwd, env: withTmp(tmp) });
    const [log = ''] = await readdir(tmp);
    expect(ready.dataDir).toBeNull();
    expect([await readdir(cwd), log]).toEqual([[], expect.stringMatching(/^gateway-sim-\w+\.log$/)]);
    expect((await run(['stop'], { cwd })).code).toBe(3);
    expect((await run(['stop', '--url', ready.url], { cwd })).code).toBe(0);
    expect(await readdir(tmp)).toEqual([]);
  });

  it('prints the notices of the emulator on stderr', async () => {
    const cwd = await temporaryFolder();
    await (await startIn(cwd)).server.stop();
    await writeFile(join(cwd, '.gateway-sim', 'journal.jsonl'), '{"torn', { flag: 'a' });
    const { code, stderr } = await detached(['--detach'], { cwd });
    expect([code, stderr]).toEqual([0, expect.stringContaining('torn')]);
  });

  it('fails with the errors of start, and leaves no files behind', async () => {
    const cwd = await temporaryFolder({ 'damaged/db.json': '{' });
    const tmp = await temporaryFolder();
    const { port } = await startReceiver();
    const cases: [code: number, args: string[]][] = [
      [5, ['--in-memory', '--port', String(port)]],
      [6, ['--port', '0', '--data-dir', 'damaged']],
      [5, ['--port', '0', '--data-dir', 'damaged/db.json/state']],
    ];
    for (const [expected, args] of cases) {
      const direct = await run(['start', ...args], { cwd });
      const { code, stdout, stderr } = await runBinary(['start', '--detach', ...args], {
        cwd,
        env: withTmp(tmp),
      });
      expect([args, code, stdout, stderr]).toEqual([args, expected, '', direct.stderr]);
    }
    expect(await readdir(tmp)).toEqual([]);
  });

  it.skipIf(process.platform === 'win32').each<[string, string, (log: string, victim: string) => unknown]>([
    ['a link', 'it is a link', (log, victim) => symlink(victim, log)],
    ['a hard link', 'it is a hard link', (log, victim) => link(victim, log)],
    ['a pipe', 'it is not a regular file', (log) => execFileSync('mkfifo', [log])],
  ])('writes nothing to a log that is %s, because a checkout may be untrusted', async (_, why, make) => {
    const cwd = await temporaryFolder();
    const victim = join(cwd, 'victim');
    const log = join(cwd, '.gateway-sim', 'start.log');
    await mkdir(join(cwd, '.gateway-sim'));
    await writeFile(victim, 'as it was');
    await make(log, victim);
    const { code, stderr } = await detached(['--detach'], { cwd });
    expect([code, stderr]).toEqual([5, expect.stringContaining(`start.log cannot be written: ${why}`)]);
    expect(await readFile(victim, 'utf8')).toBe('as it was');
  });

  it('does not change the log of the emulator that owns the folder', async () => {
    const { cwd } = await startHere();
    const log = join(cwd, '.gateway-sim', 'start.log');
    await writeFile(log, 'of its owner');
    for (const [args, expected] of [[[], 0] as const, [['--loose'], 5] as const]) {
      const { code } = await run(['start', '--detach', ...args], { cwd });
      expect([code, await readFile(log, 'utf8')]).toEqual([expected, 'of its owner']);
    }
  });
});
