import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startSim } from '../helpers/sim.ts';

const ALIAS = 'pay.example.com';
const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

describe('gateway-sim/alias-hosts', () => {
  it.each([false, true])(
    'redirects every client of Node to the emulator, in any spelling of the name (TLS: %s)',
    async (isSecure) => {
      const { url, server } = await startSim({ tls: isSecure, hostAlias: [ALIAS] });
      const { port, tlsCa } = server;
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', fileOf('../../bin/alias-hosts.js'), fileOf('alias-clients.mjs')],
        {
          env: {
            ALIAS,
            GATEWAY_SIM_URL: url,
            GATEWAY_SIM_HOST_ALIAS: `other.example, ${ALIAS.toUpperCase()}`,
            ...(isSecure && { TLS: '1', NODE_EXTRA_CA_CERTS: tlsCa ?? '' }),
          },
        },
      );
      const { results, looked } = JSON.parse(stdout) as {
        results: Record<string, unknown[]>;
        looked: string[];
      };
      expect(looked).toEqual([]);
      const { http2, fetch, ...others } = results;
      expect(Object.keys(others).length).toBeGreaterThan(6);
      for (const [way, reached] of Object.entries(others))
        expect([way, ...reached]).toEqual([way, port, port, port]);
      expect(fetch).toEqual([200, 200, 200]);
      // The emulator speaks only HTTP/1.1, but was reached.
      const inHttp2 = isSecure ? expect.stringMatching(/no.application.protocol/) : port;
      expect(http2).toEqual([inHttp2, inHttp2, inHttp2]);
    },
  );

  it('sends nothing to the real host, on any port', async () => {
    const { url, server } = await startSim({ tls: true, hostAlias: [ALIAS] });
    const script = `for (const url of ['http://${ALIAS}/api/cards', 'https://${ALIAS}:8443/api/cards'])
      console.log(await fetch(url).then(async (answer) => answer.status + await answer.text(), String));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', fileOf('../../bin/alias-hosts.js'), '--input-type=module', '-e', script],
      {
        env: {
          GATEWAY_SIM_URL: url,
          GATEWAY_SIM_HOST_ALIAS: ALIAS,
          NODE_EXTRA_CA_CERTS: server.tlsCa ?? '',
        },
      },
    );
    expect(stdout).toMatch(/^400.*this port serves HTTPS only.*\n401.*Authorization/);
  });

  it('reports missing variables', async () => {
    const args = ['--import', fileOf('../../bin/alias-hosts.js'), '-e', '0'];
    await expect(promisify(execFile)(process.execPath, args, { env: {} })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('requires GATEWAY_SIM_URL and GATEWAY_SIM_HOST_ALIAS'),
    });
  });

  it('ignores an extra comma, since an empty host means this machine', async () => {
    const script = `require('node:net').connect({ host: '', port: 1 }).on('error', ({ port }) => console.log(port))`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', fileOf('../../bin/alias-hosts.js'), '-e', script],
      { env: { GATEWAY_SIM_URL: 'http://127.0.0.1:2', GATEWAY_SIM_HOST_ALIAS: `${ALIAS},` } },
    );
    expect(stdout).toBe('1\n');
  });
});
