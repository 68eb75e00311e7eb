import { describe, expect, it } from 'vitest';
import { run, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

describe('open', () => {
  it('rejects an unknown page or payment', async () => {
    const cwd = await temporaryFolder();
    await startIn(cwd);
    expect((await run(['open', 'window'], { cwd })).code).toBe(2);
    expect((await run(['open', 'checkout'], { cwd })).code).toBe(4);
    expect((await run(['open', 'checkout', 'nope'], { cwd })).code).toBe(4);
  });
});
