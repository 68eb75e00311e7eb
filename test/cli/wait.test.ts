import { expect, it } from 'vitest';
import { startAnswering } from '../helpers/answering.ts';
import { launch, run, runJson, startHere, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';

it('wait immediately prints the URL of a ready emulator, given its folder or URL', async () => {
  const { cwd, ...ready } = await startHere();
  expect(await run(['wait'], { cwd })).toMatchObject({ code: 0, stdout: `${ready.url}\n`, stderr: '' });
  const elsewhere = { cwd: await temporaryFolder() };
  const { body } = await runJson(['wait', '--url', `${ready.url}/`], elsewhere);
  expect(body).toMatchObject({ ready: true, url: ready.url });
});

it('wait needs no control token', async () => {
  const ready = await startSim({ host: '0.0.0.0' });
  expect((await run(['wait', '--url', ready.url], { cwd: await temporaryFolder() })).code).toBe(0);
});

it('wait finds an emulator that starts later in a new folder', async () => {
  const cwd = await temporaryFolder();
  const waiting = launch(['wait', '--timeout', '60s', '--data-dir', '.gateway-sim'], { cwd });
  const ready = await startIn(cwd);
  expect(await waiting.ended).toMatchObject({ code: 0, stdout: `${ready.url}\n` });
});

it('wait gives up with exit code 3, and says where it looked and for how long', async () => {
  const cwd = await temporaryFolder();
  const args = ['wait', '--timeout', '200ms', '--data-dir', 'nowhere'];
  const { code, stdout, stderr } = await run(args, { cwd });
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toMatch(/nowhere.*0\.2 s/);
  expect((await run(['wait', '--timeout', 'soon'], { cwd })).code).toBe(2);
});

it('wait does not accept another server', async () => {
  const url = await startAnswering((_, response) => response.end('{}'));
  const args = ['wait', '--timeout', '100ms', '--url', url];
  const { code, stderr } = await run(args, { cwd: await temporaryFolder() });
  expect([code, stderr]).toEqual([3, expect.stringContaining('is not gateway-sim')]);
});

it('wait keeps its time limit if a server sends early hints endlessly', async () => {
  const url = await startAnswering((_, response) => {
    const hints = setInterval(() => response.writeEarlyHints({ link: '</>; rel=preload' }), 10);
    response.once('close', () => clearInterval(hints));
  });
  const { code } = await run(['wait', '--timeout', '100ms', '--url', url], { cwd: await temporaryFolder() });
  expect(code).toBe(3);
});
