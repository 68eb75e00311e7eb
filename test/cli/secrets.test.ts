import { expect, it } from 'vitest';
import { run, startHere } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';
import { startReceiver } from '../helpers/receiver.ts';

/** Each encoding changes it. */
const PASSWORD = `h'u"n<t>e&r@2%22`;
/** What no output may contain: parts of the password, plain and encoded for JSON, a shell and the header. */
const LEAK = /h(?:'|'\\''|\\u0027)u|e(?:&|\\u0026)r@2|c2hvcDpo/;

it('no text for people has the password of an address, a key or a token, and JSON has addresses as sent', async () => {
  const { cwd, url, secretKey, server } = await startHere();
  const receiver = await startReceiver(({ headers }) => ({
    status: 400,
    // Cut off in the middle of the key and of an address, by the shop and by the line.
    body: `${'x'.repeat(150)} shop:${PASSWORD}@ ${headers.authorization} ${secretKey}`,
  }));
  const ipnUrl = `http://shop:${PASSWORD}@127.0.0.1:${receiver.port}/ipn`;
  const create = ['payments', 'create', '--identifier', 'order-1', '--ipn-url', ipnUrl];
  const other = ['--success-url', ipnUrl.replace('/ipn', '/paid'), '--cancel-url', ipnUrl];
  expect((await run([...create, ...other], { cwd })).code).toBe(0);
  const commands = [
    ['pay', 'order-1', '--approve', '--visit', '--require-delivery'],
    ['payments', 'show', 'order-1'],
    ['payments', 'show', 'order-1', '--curl'],
    ['ipn', 'list'],
    ['ipn', 'show'],
    ['ipn', 'show', '--curl'],
    ['ipn', 'diagnose', 'order-1'],
    ['ipn', 'resend', '--to', ipnUrl],
    ['ipn', 'fire', '--to', ipnUrl, '--amount', '1.00', '--secret', secretKey],
    ['logs'],
    ['payments', 'create', '--ipn-url', `http://shop:${PASSWORD}/@localhost`],
    ['ipn', 'fire', '--to', `http://shop:${PASSWORD}/@localhost`, '--amount', '1.00'],
  ];
  for (const command of commands) {
    const { stdout, stderr } = await run(command, { cwd });
    expect([command, LEAK.exec(stdout + stderr)?.[0]]).toEqual([command, undefined]);
    expect(stdout + stderr).not.toContain(secretKey.slice(0, 12));
  }
  const fire = ['ipn', 'fire', '--to', ipnUrl, '--amount', '1.00', '--secret', secretKey, '--json'];
  expect((await run(fire, { cwd })).stdout).not.toContain(secretKey.slice(0, 12));
  const { stdout } = await run(['payments', 'show', 'order-1', '--json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ ipnUrl, cancelUrl: ipnUrl });
  await server.stop();
  // Another emulator may use the default port.
  const env = { GATEWAY_SIM_PORT: String(await freePort()) };
  const stopped = await run(['logs'], { cwd, env });
  expect([stopped.code, LEAK.exec(stopped.stdout)?.[0]]).toEqual([0, undefined]);
  expect(stopped.stdout).toContain('shop:…@127.0.0.1');
  expect(
    (await run(['logs', '--url', url.replace('//', `//shop:${PASSWORD}@`)], { cwd })).stderr,
  ).not.toMatch(LEAK);
});

it('the banner shows addresses of options without passwords', async () => {
  const cwd = await temporaryFolder();
  const publicUrl = `http://shop:${PASSWORD}@sim.example`;
  const { stdout, stderr } = await run(['exec', '--public-url', publicUrl, '--', 'true'], { cwd });
  expect(stdout + stderr).not.toMatch(LEAK);
});
