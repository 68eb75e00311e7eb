import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as cli from '../helpers/cli.ts';
import { linesNamed } from '../helpers/conform.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

const SOME = ['initiate-success-is-ok', 'field-logo-missing', 'field-logo-optional', 'client-wants-ok'];

/** A folder with a manifest of a few lines. */
function folder(...ids: string[]): Promise<string> {
  const lines = linesNamed(...(ids.length ? ids : SOME)).map((line) => JSON.stringify(line));
  return temporaryFolder({ 'few.jsonl': `${lines.join('\n')}\n` });
}

const FEW = ['conform', '--manifest', 'few.jsonl'];

/** An emulator may run on the default port. */
const elsewhere = { GATEWAY_SIM_PORT: String(await freePort()) };
const run: typeof cli.run = (args, options) =>
  cli.run(args, { ...options, env: { ...elsewhere, ...options.env } });
const runJson: typeof cli.runJson = (args, options) =>
  cli.runJson(args, { ...options, env: { ...elsewhere, ...options.env } });

describe('conform', () => {
  it('starts a temporary emulator if none is running', async () => {
    const cwd = await folder();
    const { code, stdout, stderr } = await run(FEW, { cwd });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('profile document: 2 agree, 0 differ, 1 not seen'),
    ]);
    expect(stderr).toContain('no emulator found, so a temporary one is started in memory');
  });

  it('uses the profile from the flag, variable or file, like start', async () => {
    const cwd = await folder();
    const profileOf = async (args: string[], env = {}) => {
      const { body } = await runJson<{ profile: string }>([...FEW, ...args], { cwd, env });
      return body.profile;
    };
    await writeFile(join(cwd, 'gateway-sim.config.json'), '{"profile":"server"}');
    expect(await profileOf([])).toBe('server');
    expect(await profileOf([], { GATEWAY_SIM_PROFILE: 'observed' })).toBe('observed');
    expect(await profileOf(['--profile', 'document'], { GATEWAY_SIM_PROFILE: 'observed' })).toBe('document');
  });

  it('checks the emulator of the folder and reports differences', async () => {
    const cwd = await folder();
    const { url } = await cli.startIn(cwd, { profile: 'server' });
    const { code, stdout, stderr } = await run([...FEW, '--json'], { cwd });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      target: url,
      profile: 'document',
      agree: 1,
      differ: [
        { id: 'field-logo-missing', expected: 'a refusal', got: expect.stringContaining('"success"') },
      ],
      unseen: [{ id: 'client-wants-ok', why: 'applies only to clients' }],
    });
    expect(stderr).toContain('1 of 3 lines differ');
    const text = await run(FEW, { cwd });
    expect(text.stdout).toMatch(/DIFFERS field-logo-missing: .*\n +expected: a refusal\n +got: +\{/);
    const same = await run([...FEW, '--profile', 'server'], { cwd });
    expect(same.code).toBe(0);
  });

  it.each([
    ['the argument', []],
    ['--target', ['--target']],
  ] as const)('checks the emulator at the address in %s, without printing keys', async (_, flag) => {
    const cwd = await folder();
    const { url, publicKey, secretKey } = await startSim({ profile: 'server' });
    const { code, stdout, stderr } = await run([...FEW, ...flag, `${url}/`], { cwd });
    expect([code, stdout]).toEqual([1, expect.stringContaining('DIFFERS field-logo-missing')]);
    for (const key of [publicKey, secretKey]) expect(stdout + stderr).not.toContain(key);
  });

  it('prints a partial report if the target stops responding', async () => {
    const cwd = await folder(
      'initiate-success-is-ok',
      'initiate-json',
      'initiate-cors',
      'field-logo-missing',
    );
    const success = { body: '{"success":"ok"}' };
    const { url } = await startReceiver([{}, success, success, 'drop']);
    const keys = ['--public-key', 'pub_x', '--secret-key', 'sec_x'];
    const { code, stdout, stderr } = await run([...FEW, url, ...keys], { cwd });
    expect([code, stderr]).toEqual([3, expect.stringContaining('no usable response from ')]);
    expect(stdout).toContain('1 agree, 0 differ, 3 not seen');
  });

  it('connects to an emulator over HTTPS with --tls-ca, and names that flag if it is missing', async () => {
    const cwd = await folder();
    const { url, server } = await startSim({ tls: true });
    const trusting = await run([...FEW, '--target', url, '--tls-ca', server.tlsCa ?? ''], { cwd });
    expect(trusting).toMatchObject({ code: 0, stdout: expect.stringContaining('2 agree, 0 differ') });
    const { code, stderr } = await run([...FEW, '--target', url], { cwd });
    expect([code, stderr]).toEqual([3, expect.stringMatching(/is not trusted: .* with --tls-ca/)]);
  });

  it('sends only sandbox requests and no token to a server that does not prove to be an emulator', async () => {
    const other = await startReceiver([{ body: '{"success":"ok"}' }]);
    const env = { GATEWAY_SIM_CONTROL_TOKEN: 'of-the-environment' };
    const named = ['--target', other.url, '--public-key', 'pub_x'];
    const { code, stdout } = await run([...FEW, ...named, '--json'], {
      cwd: await folder('initiate-live'),
      env,
    });
    const [first, ...more] = other.requests;
    expect([first?.method, first?.url, first?.headers.authorization]).toEqual([
      'GET',
      '/_sim/livez',
      undefined,
    ]);
    expect(more.filter(({ url }) => !/^\/(sandbox\/|_sim\/livez$)/.test(url))).toEqual([]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { unseen: [{ id: 'initiate-live' }] }]);
  });

  it('reports the file and line of malformed input', async () => {
    const cwd = await temporaryFolder({ 'few.jsonl': '{"id":"x"}\n' });
    const { code, stderr } = await run(FEW, { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('few.jsonl, line 1: request')]);
  });

  it('reports that its own port is in use', async () => {
    const { port } = new URL((await startSim()).url);
    const { code, stderr } = await run([...FEW, '--ipn-port', `${port}`], { cwd: await folder() });
    expect([code, stderr]).toEqual([5, expect.stringContaining(`port ${port} is in use by another process`)]);
  });

  it('tests live mode only if --live is repeated', async () => {
    const other = await startReceiver([{ body: '{"success":"ok"}' }]);
    const cwd = await folder('initiate-live');
    const keys = ['--public-key', 'pub_x', '--secret-key', 'sec_x'];
    const args = [...FEW, '--target', other.url, ...keys, '--live'];
    const isTested = () => other.requests.some(({ url }) => url === '/payment/initiate');
    const { stderr } = await run(args, { cwd });
    expect([stderr, isTested()]).toEqual([expect.stringContaining('repeat --live'), false]);
    await run([...args, '--live'], { cwd });
    expect(isTested()).toBe(true);
  });
});
