import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from './helpers/folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What a worker that is shared must survive: mocks, fake time, a server and a working folder that is gone, and no hook that would end them. */
const CRASHES = `
  import { mkdtempSync, rmdirSync } from 'node:fs';
  import { createServer } from 'node:http';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  import { vi } from 'vitest';
  vi.useFakeTimers({ now: 0 });
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  vi.stubEnv('LEFT_BEHIND', 'yes');
  createServer().listen(0);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-sim-test-'));
  process.chdir(folder);
  rmdirSync(folder);
  throw new Error('half-way');
`;
const NEXT = `
  import { expect, test } from 'vitest';
  test('the next file', () => {
    expect(Date.now()).toBeGreaterThan(1);
    expect(Math.random()).not.toBe(Math.random());
    expect(process.env.LEFT_BEHIND).toBeUndefined();
    expect(process.cwd()).toMatch(/./);
  });
`;
const CONFIG = `export default {
  test: { isolate: false, maxWorkers: 1, setupFiles: [${JSON.stringify(join(ROOT, 'test/setup/file.ts'))}] },
};`;

/** Runs files of tests, in the order of their names, in one worker. */
async function runFiles(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder();
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'vitest.config.mjs'), CONFIG);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const run = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--sequence.shuffle.files=false'];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      run,
      { cwd: folder, env: { ...process.env, NO_COLOR: '1' } },
      (_, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}

test('a file that fails while it is collected leaves nothing to the next one in its worker', async () => {
  const output = await runFiles({ 'a.test.mjs': CRASHES, 'b.test.mjs': NEXT });
  expect(output).toContain('Error: half-way');
  expect(output).toMatch(/Tests +1 passed \(1\)/);
});
