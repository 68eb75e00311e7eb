import { chmod, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DataFolder } from '../../src/store/folder.ts';
import { writeServerInfo } from '../../src/store/server-file.ts';
import { run, runJson, startHere, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const create = (cwd: string, identifier: string) =>
  run(['payments', 'create', '--identifier', identifier], { cwd });

async function identifiers(cwd: string): Promise<string[]> {
  const { body } = await runJson<{ data: { identifier: string }[] }>(['payments', 'list'], { cwd });
  return body.data.map(({ identifier }) => identifier);
}

describe('state export and import', () => {
  it('restore a whole state from a file or stdin', async () => {
    const { cwd, ...ready } = await startHere();
    await create(cwd, 'order-1');
    const exported = await runJson<object>(['state', 'export', 'saved.json'], { cwd });
    const file = join(cwd, 'saved.json');
    expect(exported.body).toEqual({ file, counts: expect.objectContaining({ payments: 1, merchants: 1 }) });
    const text = await readFile(file, 'utf8');
    expect(text).toMatch(/^\{"version":\d+,\n/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await run(['state', 'export', '-'], { cwd })).stdout).toBe(text);
    await create(cwd, 'order-2');
    const imported = await runJson(['state', 'import', 'saved.json'], { cwd });
    expect(imported.body).toEqual({
      imported: true,
      url: ready.url,
      counts: expect.objectContaining({ payments: 1 }),
    });
    expect(await identifiers(cwd)).toEqual(['order-1']);
    await run(['state', 'reset'], { cwd });
    expect(await identifiers(cwd)).toEqual([]);
    expect((await run(['state', 'import', '-'], { cwd, input: text })).code).toBe(0);
    expect(await identifiers(cwd)).toEqual(['order-1']);
  });

  it.each(['import', 'reset'])(
    '%s does not ask for confirmation without a terminal, as the help says',
    async (name) => {
      const { cwd } = await startHere();
      await create(cwd, 'order-1');
      await run(['state', 'export', 'saved.json'], { cwd });
      const args = name === 'import' ? ['saved.json'] : [];
      expect((await run(['state', name, ...args], { cwd })).code).toBe(0);
      expect(await identifiers(cwd)).toEqual(name === 'import' ? ['order-1'] : []);
      expect((await run(['state', name, '--help'], { cwd })).stdout).toMatch(
        /not asked without a\s+terminal/,
      );
      const page = await readFile(new URL('../../src/docs/state.md', import.meta.url), 'utf8');
      expect(page).toContain('Without a terminal, as in CI, they do not ask');
    },
  );

  it('reject a file that does not exist', async () => {
    const { cwd } = await startHere();
    expect((await run(['state', 'import', 'nowhere.json'], { cwd })).code).toBe(4);
  });

  it('overwrite an earlier export, but no other file', async () => {
    const { cwd } = await startHere();
    const to = (file: string, ...args: string[]) => run(['state', 'export', file, ...args], { cwd });
    await writeFile(join(cwd, 'package.json'), '{"name":"shop","version":"1.0.0"}');
    const refused = await to('package.json');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--force')]);
    expect(await readFile(join(cwd, 'package.json'), 'utf8')).toContain('shop');
    expect((await to('package.json', '--force')).code).toBe(0);
    expect(await readFile(join(cwd, 'package.json'), 'utf8')).toMatch(/^\{"version":/);
    await writeFile(join(cwd, 'empty.json'), '');
    await chmod(join(cwd, 'empty.json'), 0o644);
    await symlink('empty.json', join(cwd, 'link.json'));
    const mode = async () => (await stat(join(cwd, 'empty.json'))).mode & 0o777;
    for (const file of ['empty.json', 'empty.json', '/dev/null'])
      expect([file, (await to(file)).code]).toEqual([file, 0]);
    expect(await mode()).toBe(0o644);
    expect([(await to('link.json')).code, await mode()]).toEqual([0, 0o600]);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
    const ofFolder = await to('.gateway-sim/db.json', '--force');
    expect([ofFolder.code, ofFolder.stderr]).toEqual([
      2,
      expect.stringContaining('is the state of a data folder'),
    ]);
    const nowhere = await to('no/such/folder.json');
    expect([nowhere.code, nowhere.stderr]).toEqual([5, expect.stringContaining('no/such/folder.json')]);
    expect((await readdir(cwd)).sort()).toEqual(['.gateway-sim', 'empty.json', 'link.json', 'package.json']);
  });
});

describe('state reset', () => {
  it('moves a damaged state aside as a whole, so that the next start works', async () => {
    const cwd = await temporaryFolder({
      '.gateway-sim/db.json': '{damaged',
      '.gateway-sim/journal.jsonl': 'damaged too\n',
    });
    const folder = join(cwd, '.gateway-sim');
    const failed = await run(['start', '--port', '0'], { cwd });
    expect([failed.code, failed.stderr]).toEqual([6, expect.stringContaining('state reset')]);
    const { body } = await runJson<{ backup: string }>(['state', 'reset'], { cwd });
    expect(body).toEqual({
      reset: true,
      dataDir: folder,
      backup: expect.stringMatching(/\.gateway-sim\/backup-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d$/),
    });
    expect(body.backup).toContain(folder);
    expect(await readFile(join(body.backup, 'db.json'), 'utf8')).toBe('{damaged');
    expect(await readFile(join(body.backup, 'journal.jsonl'), 'utf8')).toBe('damaged too\n');
    const { body: again } = await runJson(['state', 'reset'], { cwd });
    expect(again).toEqual({ reset: true, dataDir: folder, backup: null });
    const ready = await startIn(cwd);
    expect(ready.server.dataDir).toBe(folder);
  });

  it('resets the folder here, not an emulator that runs in a parent folder', async () => {
    const above = await temporaryFolder({ 'project/.gateway-sim/db.json': '{damaged' });
    await startIn(above);
    await create(above, 'order-1');
    const cwd = join(above, 'project');
    expect((await runJson(['state', 'reset'], { cwd })).body).toMatchObject({ backup: expect.any(String) });
    expect(await identifiers(above)).toEqual(['order-1']);
  });

  it('does not create a folder, or change one of another program', async () => {
    const cwd = await temporaryFolder({ 'db.json': '{"posts":[]}' });
    for (const dataDir of ['.', 'nowhere']) {
      const { code, stderr } = await run(['state', 'reset', '--data-dir', dataDir], { cwd });
      expect([code, stderr]).toEqual([4, expect.stringContaining('not a data folder')]);
    }
    // A failed start must not change that.
    expect((await run(['start', '--port', '0', '--data-dir', '.'], { cwd })).code).toBe(6);
    expect((await run(['state', 'reset', '--data-dir', '.'], { cwd })).code).toBe(4);
    expect(await readdir(cwd)).toEqual(['db.json']);
    expect(await readFile(join(cwd, 'db.json'), 'utf8')).toBe('{"posts":[]}');
  });

  it('does not change a folder that another process has locked, even if no server responds', async () => {
    const cwd = await temporaryFolder({ '.gateway-sim/db.json': '{}' });
    const folder = join(cwd, '.gateway-sim');
    const held = await DataFolder.acquire(folder);
    onTestFinished(() => held.release());
    const server = { url: 'http://127.0.0.1:9', pid: process.pid, controlToken: null, tlsCa: null };
    for (const found of [undefined, server]) {
      if (found) await writeServerInfo(folder, found);
      const { code, stderr } = await run(['state', 'reset'], { cwd });
      expect([code, stderr]).toEqual([5, expect.stringContaining('in use')]);
    }
    expect(await readFile(join(folder, 'db.json'), 'utf8')).toBe('{}');
  });
});
