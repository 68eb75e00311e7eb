import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { onNpmExit } from '../../src/cli/signals.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { listen } from '../helpers/answering.ts';
import { BINARY } from '../helpers/binary.ts';
import { launchProgram } from '../helpers/child.ts';
import { run, runJson, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

/** A server that answers everything like an emulator that stops. */
async function listening(headers: Record<string, string>, pid: number) {
  const seen: string[] = [];
  const answer = ({ method, url }: IncomingMessage) => {
    seen.push(`${method} ${url}`);
    if (url === '/_sim/shutdown' && headers['X-Gateway-Sim']) server.close();
    return JSON.stringify({ stopping: true, pid });
  };
  const server = createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', Connection: 'close', ...headers });
    response.end(answer(request));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

describe('stop', () => {
  it.each(['stop', 'state reset', 'state import -'])(
    'is safe: "%s" changes nothing on a server that is not gateway-sim',
    async (command) => {
      const { url, seen } = await listening({}, process.pid);
      const options = { cwd: await temporaryFolder(), input: '{}' };
      const { code, stderr } = await run([...command.split(' '), '--url', url], options);
      expect([code, stderr]).toEqual([3, expect.stringContaining('is not gateway-sim')]);
      expect(seen).toEqual(['GET /_sim/readyz']);
    },
  );

  it('does not wait forever for a process in a container, whose id belongs to another process here', async () => {
    const { url } = await listening({ 'X-Gateway-Sim': '1' }, process.ppid);
    const { code, body } = await runJson<object>(['stop', '--url', url], { cwd: await temporaryFolder() });
    expect([code, body]).toEqual([0, { stopped: true, url, pid: process.ppid }]);
  });

  it('with --data-dir ignores the address of the environment', async () => {
    const cwd = await temporaryFolder();
    const { ready, ended } = await start(['--quiet'], { cwd });
    const options = { cwd: await temporaryFolder(), env: { GATEWAY_SIM_URL: 'http://127.0.0.1:9' } };
    const { body } = await runJson(['stop', '--data-dir', join(cwd, '.gateway-sim')], options);
    expect(body).toMatchObject({ stopped: true, url: ready.url });
    expect((await ended).code).toBe(0);
  });
});

describe('a start that npm runs', () => {
  const onLinux = it.runIf(process.platform === 'linux');

  onLinux('keeps running while npm runs, even if its shell has ended', () => {
    const shell = launchProgram(['sh', '-c', 'sleep 1000; true']);
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    // This process plays npm: it is the parent of that shell.
    const parent = vi.spyOn(process, 'ppid', 'get').mockReturnValue(shell.pid);
    onTestFinished(() => parent.mockRestore());
    const onExit = vi.fn();
    onNpmExit({ npm_command: 'run-script' }, onExit);
    parent.mockReturnValue(1);
    vi.advanceTimersByTime(10_000);
    expect(onExit).not.toHaveBeenCalled();
  });

  /** npm runs a script in a shell that does not forward signals, or that the command replaces. */
  const ends = [
    ['its shell and then npm end', '', '; true', true],
    ['npm ends, while its shell keeps running', '', '; true', false],
    ['npm ends, and the emulator replaced its shell', 'exec ', '', false],
  ] as const;
  onLinux.each(ends)('stops when %s', async (_, before, after, shellFirst) => {
    const cwd = await temporaryFolder();
    const line = `${before}'${process.execPath}' '${BINARY}' start --port 0 --quiet${after}`;
    const script = `
        const shell = require('child_process').spawn('sh', ['-c', ${JSON.stringify(line)}], { stdio: 'inherit' });
        process.on('SIGTERM', () => shell.kill('SIGKILL'));
        shell.on('exit', () => console.log('shell is gone'));
        setInterval(() => {}, 1000);`;
    const env = { npm_command: 'run-script' };
    const npm = launchProgram([process.execPath, '-e', script], { cwd, env });
    await npm.until((stdout) => stdout.includes('ready '));
    const { body } = await runJson<{ pid: number }>(['status'], { cwd });
    if (shellFirst) {
      npm.child.kill('SIGTERM');
      await npm.until((stdout) => stdout.includes('shell is gone'));
    }
    npm.child.kill('SIGKILL');
    await expect.poll(() => isAlive(body.pid)).toBe(false);
    expect((await npm.ended).stderr).toContain('npm exited, so the emulator is stopping');
    expect((await run(['status', '--data-dir', '.gateway-sim'], { cwd })).code).toBe(3);
  });
});
