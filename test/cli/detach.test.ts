import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isAlive, statOf } from '../../src/store/process-identity.ts';
import { type Ready, type RunOptions, run, runJson } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';

/** `start --detach`; the emulator is killed when the test is over. Ends only when its stdout and stderr are closed. */
async function startDetached(args: readonly string[], options: RunOptions) {
  const finished = await runJson<Ready>(['start', '--detach', '--port', '0', ...args], options);
  const pid = finished.body?.pid;
  onTestFinished(() => {
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return { ...finished, ready: finished.body };
}

describe('start --detach', () => {
  it('returns with the ready event of an emulator that answers, in a session of its own', async () => {
    const cwd = await temporaryFolder();
    const { code, stderr, stdout, ready } = await startDetached([], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`${JSON.stringify(ready)}\n`);
    expect(ready).toMatchObject({ event: 'ready', dataDir: join(cwd, '.gateway-sim'), controlToken: null });
    expect(Object.keys(ready)).toHaveLength(11);
    const status = (await (await fetch(`${ready.url}/_sim/status`)).json()) as { pid: number };
    expect(status.pid).toBe(ready.pid);
    if (process.platform === 'linux') {
      const session = statOf(ready.pid)[3];
      expect(session).toBe(String(ready.pid));
    }
    const { body } = await runJson(['stop'], { cwd });
    expect(body).toEqual({ stopped: true, url: ready.url, pid: ready.pid });
    expect(isAlive(ready.pid)).toBe(false);
  });

  it.each([
    ['a variable', { GATEWAY_SIM_DETACH: '1' }, '{ "port": 0 }'],
    ['the file', {}, '{ "port": 0, "detach": true }'],
  ])('is said by %s too, and detaches once', async (_, env, config) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'gateway-sim.config.json'), config);
    const { code, body: ready } = await runJson<Ready>(['start'], { cwd, env });
    onTestFinished(() => {
      if (isAlive(ready.pid)) process.kill(ready.pid, 'SIGKILL');
    });
    const { body: status } = await runJson<{ pid: number }>(['status'], { cwd });
    expect([code, status.pid]).toEqual([0, ready.pid]);
    const { body } = await runJson(['stop', '--data-dir', '.gateway-sim'], { cwd });
    expect(body).toMatchObject({ stopped: true, pid: ready.pid });
  });

  it('writes what happens to the log, which its owner only can read', async () => {
    const cwd = await temporaryFolder();
    const { ready } = await startDetached([], { cwd });
    await fetch(`${ready.url}/nowhere`);
    await run(['stop'], { cwd });
    const log = join(cwd, '.gateway-sim', 'start.log');
    expect(await readFile(log, 'utf8')).toContain('/nowhere');
    expect((await stat(log)).mode & 0o777).toBe(0o600);
  });

  it('takes a db.json that somebody put into a new folder, beside its own log', async () => {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, '.gateway-sim'));
    const fixtures = new URL('../../fixtures/default.json', import.meta.url);
    await copyFile(fixtures, join(cwd, '.gateway-sim', 'db.json'));
    const { code, stderr } = await startDetached([], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect((await run(['stop'], { cwd })).code).toBe(0);
  });

  it('shows people the URL, the keys, the log and how to stop it', async () => {
    const cwd = await temporaryFolder();
    const { code, stdout } = await run(['start', '--detach', '--port', '0'], { cwd });
    for (const fact of ['http://127.0.0.1:', 'pub_sim_', 'sec_sim_', '.gateway-sim/start.log', ' stop\n'])
      expect(stdout).toContain(fact);
    expect([code, (await run(['stop'], { cwd })).code]).toEqual([0, 0]);
  });

  it('in memory leaves the folder alone and is stopped by its URL', async () => {
    const cwd = await temporaryFolder();
    const tmp = await temporaryFolder();
    const options = { cwd, env: { TMPDIR: tmp } };
    const { ready } = await startDetached(['--in-memory'], options);
    const [log = ''] = await readdir(tmp);
    expect([await readdir(cwd), log]).toEqual([[], expect.stringMatching(/^gateway-sim-\w+\.log$/)]);
    expect((await run(['stop'], options)).code).toBe(3);
    expect((await run(['stop', '--url', ready.url], options)).code).toBe(0);
    expect(await readdir(tmp)).toEqual([]);
  });

  it('tells on stderr what it found', async () => {
    const cwd = await temporaryFolder();
    await startDetached([], { cwd });
    await run(['stop'], { cwd });
    await writeFile(join(cwd, '.gateway-sim', 'journal.jsonl'), '{"torn', { flag: 'a' });
    const { code, stderr } = await startDetached([], { cwd });
    expect([code, stderr]).toEqual([0, expect.stringContaining('torn')]);
  });

  it('fails as start does, with the same words, and leaves nothing behind', { timeout: 60_000 }, async () => {
    const cwd = await temporaryFolder();
    const tmp = await temporaryFolder();
    const options = { cwd, env: { TMPDIR: tmp } };
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    onTestFinished(() => void blocker.close());
    const { port } = blocker.address() as { port: number };
    await mkdir(join(cwd, 'damaged'));
    await writeFile(join(cwd, 'damaged', 'db.json'), '{');
    await writeFile(join(cwd, 'bad.json'), '{"prot": 1}');
    const cases: [code: number, args: string[]][] = [
      [5, ['--in-memory', '--port', String(port)]],
      [6, ['--port', '0', '--data-dir', 'damaged']],
      [5, ['--port', '0', '--data-dir', 'bad.json/state']],
      [2, ['--config', 'bad.json']],
      [2, ['--in-memory', '--port', '0', '--amount-format', 'odd']],
    ];
    for (const [expected, args] of cases) {
      const direct = await run(['start', ...args], options);
      const detached = await run(['start', '--detach', ...args], options);
      expect([args, detached.code, detached.stdout]).toEqual([args, expected, '']);
      expect(detached.stderr).toBe(direct.stderr);
    }
    expect(await readdir(tmp)).toEqual([]);
    await rm(join(cwd, 'damaged'), { recursive: true });
  });

  it('does not touch the log of the emulator that has the folder', async () => {
    const cwd = await temporaryFolder();
    await startDetached([], { cwd });
    const log = join(cwd, '.gateway-sim', 'start.log');
    const before = await readFile(log, 'utf8');
    const second = await startDetached([], { cwd });
    expect([second.code, second.stderr]).toEqual([5, expect.stringContaining('in use')]);
    expect(await readFile(log, 'utf8')).toBe(before);
  });
});
