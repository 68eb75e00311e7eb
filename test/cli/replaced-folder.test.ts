import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leftByKill, run, runJson, start } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { fields } from '../helpers/records.ts';

type Started = Awaited<ReturnType<typeof start>>;

async function initiate({ ready: { url, publicKey } }: Started, identifier: string) {
  const body = new URLSearchParams({ ...fields({ identifier }), public_key: publicKey });
  const answer = await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', body });
  return { status: answer.status, body: (await answer.json()) as { message: string } };
}

const identifiersIn = async (cwd: string) => {
  const { body } = await runJson<{ data: { identifier: string }[] }>(['payments'], { cwd });
  return body.data.map(({ identifier }) => identifier);
};

/** Removes a folder while an emulator may write into it. */
const removed = (folder: string) => rm(folder, { recursive: true, maxRetries: 10 });

const GONE = /was removed, moved or replaced while gateway-sim was using it/;

describe('an initiate request', () => {
  it('does not succeed if the folder is removed', async () => {
    const cwd = await temporaryFolder();
    const emulator = await start([], { cwd });
    await initiate(emulator, 'order-1');
    await removed(join(cwd, '.gateway-sim'));
    const { status, body } = await initiate(emulator, 'order-2');
    expect([status, body.message]).toEqual([507, expect.stringMatching(GONE)]);
    const { stdout } = await run(['payments', 'list', '--url', emulator.ready.url], { cwd });
    expect(stdout).not.toContain('order-2');
    const { code, stderr } = await emulator.stop();
    expect([code, stderr.match(new RegExp(GONE, 'g'))]).toEqual([6, [expect.any(String)]]);
  });

  it('succeeds again once the folder is back', async () => {
    const cwd = await temporaryFolder();
    const data = join(cwd, '.gateway-sim');
    const emulator = await start([], { cwd });
    await rename(data, `${data}-away`);
    expect((await initiate(emulator, 'while-away')).status).toBe(507);
    await rename(`${data}-away`, data);
    expect((await initiate(emulator, 'order-2')).status).toBe(200);
    const again = await leftByKill(cwd);
    await start([], { cwd: again });
    expect(await identifiersIn(again)).toEqual(['order-2']);
  });
});

describe('a db.json that is edited while an emulator uses it', () => {
  it('is kept under another name at the next write, which terminal and status say', async () => {
    const cwd = await temporaryFolder();
    const db = join(cwd, '.gateway-sim', 'db.json');
    const emulator = await start(['--quiet'], { cwd });
    await initiate(emulator, 'order-1');
    await expect.poll(() => readFile(db, 'utf8')).toContain('order-1');
    const edited = (await readFile(db, 'utf8')).replace('order-1', 'order-X');
    await writeFile(db, edited);
    await initiate(emulator, 'order-2');
    await emulator.until((_, stderr) => stderr.includes('was edited while gateway-sim was using it'));
    const [, kept = ''] = /kept as (\S+)/.exec(emulator.stderr()) ?? [];
    expect(await readFile(kept, 'utf8')).toBe(edited);
    await expect.poll(() => readFile(db, 'utf8')).toContain('order-2');
    const notice = expect.stringContaining(
      `edited while gateway-sim was using it: the edit has no effect and is kept as ${kept}`,
    );
    const { body } = await runJson<{ notices: string[] }>(['status'], { cwd });
    expect(body.notices).toEqual([notice]);
    expect((await run(['status'], { cwd })).stdout).toContain('NOTICE    ');
    expect((await emulator.stop()).code).toBe(0);
    const next = await start(['--quiet'], { cwd });
    expect(next.stderr()).toBe('');
    expect(await identifiersIn(cwd)).toEqual(['order-2', 'order-1']);
  });
});

it('a db.json that is edited after a stop is used, which --quiet says, too', async () => {
  const cwd = await temporaryFolder();
  const emulator = await start([], { cwd });
  await initiate(emulator, 'order-1');
  await emulator.stop();
  const db = join(cwd, '.gateway-sim', 'db.json');
  await writeFile(db, (await readFile(db, 'utf8')).replace('order-1', 'order-X'));
  const { stderr } = await start(['--quiet'], { cwd });
  expect(stderr()).toContain('db.json was edited after gateway-sim wrote it: using the edited file');
  expect(await identifiersIn(cwd)).toEqual(['order-X']);
});
