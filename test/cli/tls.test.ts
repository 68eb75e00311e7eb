import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { launch as launchBinary } from '../helpers/binary.ts';
import { writePair } from '../helpers/certificates.ts';
import { runProgram } from '../helpers/child.ts';
import { launch, run, runJson, start } from '../helpers/cli.ts';
import { temporaryFolder, withTmp } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { startSim } from '../helpers/sim.ts';
import { missing } from '../merchants/running.ts';

const noPython = missing('python');

/** Opens addresses like a Python program that trusts the file in the documented variable. */
async function pythonGets(urls: readonly string[], trusted: string): Promise<string[]> {
  const script = `import sys, urllib.request
for url in sys.argv[1:]:
    try: print(urllib.request.urlopen(url).read().decode())
    except Exception as error: print(error)`;
  const { stdout } = await runProgram(['python3', '-c', script, ...urls], {
    env: { SSL_CERT_FILE: trusted },
  });
  return stdout.trim().split('\n');
}

describe('start --tls', () => {
  it('creates a local authority in the data folder that all commands trust automatically', async () => {
    const cwd = await temporaryFolder();
    const { ready, ended } = await start(['--tls', '--host-alias', 'pay.example.com'], { cwd });
    const folder = join(cwd, '.gateway-sim', 'tls');
    expect(ready).toMatchObject({ url: `https://127.0.0.1:${ready.port}`, tlsCa: join(folder, 'ca.pem') });
    const modes = async (name: string) => (await stat(join(folder, name))).mode & 0o777;
    expect([await modes('key.pem'), await modes('ca.pem')]).toEqual([0o600, 0o644]);
    expect((await readdir(folder)).sort()).toEqual(['ca.pem', 'cert.pem', 'key.pem', 'made-in']);
    const info = JSON.parse(await readFile(join(cwd, '.gateway-sim', 'server.json'), 'utf8')) as object;
    expect(info).toMatchObject({ url: ready.url, tlsCa: ready.tlsCa });
    const status = await runJson<{ url: string; tlsCa: string }>(['status'], { cwd });
    expect(status.body).toMatchObject({ url: ready.url, tlsCa: ready.tlsCa });
    expect((await run(['wait'], { cwd })).code).toBe(0);
    const created = await run(['payments', 'create'], { cwd });
    expect(created.stdout).toContain(`${ready.url}/sandbox/initiate`);
    expect((await run(['pay', '--approve'], { cwd })).code).toBe(0);
    const card = ['cards', 'create', '--amount', '5', '--currency', 'USD'];
    expect((await run(card, { cwd })).stderr).not.toContain('certificate');
    expect((await run(['stop'], { cwd })).code).toBe(0);
    expect((await ended).code).toBe(0);
  });

  it.skipIf(noPython)(
    `needs only its certificate file to be trusted by Python${noPython ? ` (${noPython})` : ''}`,
    async () => {
      const cwd = await temporaryFolder();
      const { ready, stderr, until } = await start(['--tls'], { cwd });
      const urls = ['127.0.0.1', 'localhost'].map((host) => `https://${host}:${ready.port}/_sim/readyz`);
      const answered = await pythonGets(urls, ready.tlsCa ?? '');
      expect(answered).toEqual([expect.stringContaining('ready'), expect.stringContaining('ready')]);
      const { ca } = await writePair(cwd, 'other');
      const refused = await pythonGets(Array(3).fill(`${ready.url}/_sim/readyz`), ca);
      expect(refused).toEqual(Array(3).fill(expect.stringContaining('CERTIFICATE_VERIFY_FAILED')));
      const reports = () =>
        stderr().match(/a client does not trust the certificate \(unknown ca\): make it trust/g)?.length;
      await expect.poll(reports).toBe(1);
      await until((_, stderr) => stderr.includes(ready.tlsCa ?? 'none'));
    },
  );

  it('reports why it cannot write its files', async () => {
    const cwd = await temporaryFolder({ '.gateway-sim/tls': 'a file of the user' });
    const { code, stderr } = await run(['start', '--port', '0', '--tls'], { cwd });
    expect([code, stderr]).toEqual([5, expect.stringContaining('a file with this name already exists')]);
  });

  it('says what to trust, and installs nothing', async () => {
    const cwd = await temporaryFolder();
    const hosts = ['--host-alias', 'pay.example.com', '--forward-ipn', 'shop.example=127.0.0.1:8080'];
    const args = ['start', '--port', '0', '--tls', '--proxy', ...hosts];
    const running = launch(args, { cwd });
    await running.until((stdout) => stdout.includes('Ctrl-C'));
    const ca = join(cwd, '.gateway-sim', 'tls', 'ca.pem');
    expect(running.stdout()).toContain(ca);
    expect(running.stdout()).toMatch(/Proxy +http:\/\/127\.0\.0\.1:\d+ +for pay\.example\.com/);
    expect(running.stdout()).toMatch(/Forwarded +shop\.example=127\.0\.0\.1:8080/);
    expect(running.stdout()).toContain('nothing was installed');
  });

  it('uses the pair that tlsCert and tlsKey name', async () => {
    const pair = { tlsCert: '../mine.pem', tlsKey: '../mine-key.pem' };
    const cwd = await temporaryFolder({ 'sub/gateway-sim.config.json': JSON.stringify(pair) });
    await writePair(cwd, 'mine');
    const env = { GATEWAY_SIM_CONFIG: 'sub/gateway-sim.config.json' };
    const { ready } = await start(['--in-memory'], { cwd, env });
    expect(ready).toMatchObject({ url: expect.stringMatching(/^https:/), tlsCa: join(cwd, 'mine.pem') });
    expect((await run(['status', '--url', ready.url, '--tls-ca', 'mine.pem'], { cwd })).code).toBe(0);
    const { code, stderr } = await run(['status', '--url', ready.url, '--tls-ca', 'none.pem'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('none.pem: there is no such file')]);
    const device = await run(['status', '--url', ready.url, '--tls-ca', '/dev/null'], { cwd });
    expect(device.stderr).toContain('cannot be read from /dev/null: it is not a regular file');
  });
});

describe('start --tls --in-memory', () => {
  it('leaves nothing behind when a signal ends conform', async () => {
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': '{"tls":true}' });
    const env = { ...withTmp(join(cwd, 'tmp')), GATEWAY_SIM_PORT: String(await freePort()) };
    await mkdir(env.TMPDIR);
    const { child, ended } = launchBinary(['conform'], { cwd, env });
    const files = () => readdir(env.TMPDIR, { recursive: true });
    await expect.poll(files).toContainEqual(expect.stringMatching(/ca\.pem$/));
    child.kill('SIGTERM');
    expect((await ended).signal).toBe('SIGTERM');
    expect(await readdir(env.TMPDIR)).toEqual([]);
  });

  it('leaves nothing behind if it cannot start', async () => {
    const cwd = await temporaryFolder();
    const { port } = (await startSim()).server;
    vi.stubEnv('TMPDIR', cwd);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code } = await run(['start', '--tls', '--in-memory', '--port', String(port)], { cwd });
    expect([code, await readdir(cwd)]).toEqual([5, []]);
  });

  it('is trusted only with its certificate file', async () => {
    const cwd = await temporaryFolder();
    const { ready } = await start(['--tls', '--in-memory'], { cwd });
    for (const command of ['status', 'stop']) {
      const { code, stderr } = await run([command, '--url', ready.url], { cwd });
      expect([code, stderr]).toEqual([3, expect.stringMatching(/is not trusted[\s\S]*--tls-ca/)]);
    }
    const env = { GATEWAY_SIM_URL: ready.url, GATEWAY_SIM_TLS_CA: ready.tlsCa ?? '' };
    expect((await run(['status'], { cwd, env })).code).toBe(0);
    const trusted = ['--url', ready.url, '--tls-ca', ready.tlsCa ?? ''];
    for (const command of ['wait', 'stop']) expect((await run([command, ...trusted], { cwd })).code).toBe(0);
  });
});

describe('an invalid combination', () => {
  it.each<[string[], string, object?]>([
    [['--proxy'], '--proxy requires --host-alias with at least one host'],
    [
      ['--host-alias', 'https://pay.example.com'],
      '--host-alias must be a host name without a scheme or port',
    ],
    [['--host-alias', '*.example.com'], '--host-alias must be a host name'],
    [['--host-alias', 'localhost'], 'already means this machine'],
    [['--forward-ipn', 'a.test=b', '--forward-ipn', 'a.test=c'], '--forward-ipn maps a.test twice'],
    [[], '"tlsCert" in gateway-sim.config.json requires --tls-key', { tlsCert: 'own.pem' }],
    [[], 'must name a key without a passphrase', { tlsCert: 'own.pem', tlsKey: 'locked.pem' }],
    [[], '"ipnCa" in gateway-sim.config.json must name a PEM file with', { ipnCa: 'own-key.pem' }],
  ])('exits 2, and the error says why: %s %s', async (args, why, config = {}) => {
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': JSON.stringify(config) });
    await writePair(cwd, 'own');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
    await writeFile(join(cwd, 'locked.pem'), privateKey.export(encrypted));
    const { code, stdout, stderr } = await run(['start', '--port', '0', ...args], { cwd });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)]);
    expect(stderr).not.toMatch(/^\s+at /m);
    // The mistake is reported before any file is created.
    expect(existsSync(join(cwd, '.gateway-sim'))).toBe(false);
  });
});
