import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { run as runBinary } from '../helpers/binary.ts';
import { startHere } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

it('open shows the dashboard in the browser', async () => {
  const { cwd, url } = await startHere();
  const bin = await temporaryFolder();
  const opened = join(bin, 'opened');
  for (const name of ['xdg-open', 'open'])
    await writeFile(join(bin, name), `#!/bin/sh\nprintf %s "$*" > '${opened}'\n`, { mode: 0o755 });
  const env = { PATH: `${bin}${delimiter}${process.env['PATH']}` };
  expect(await runBinary(['open'], { cwd, env })).toMatchObject({ code: 0 });
  await expect.poll(() => readFile(opened, 'utf8').catch(() => '')).toBe(`${url}/_sim`);
});
