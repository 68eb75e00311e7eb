import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BINARY, run } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';

/** Takes nothing: every write is an error of the disk. */
const FULL = '/dev/full';

it.skipIf(!existsSync(FULL))(
  'what cannot be written to stdout or stderr does not end the emulator',
  async () => {
    const cwd = await temporaryFolder();
    const full = await open(FULL, 'w');
    onTestFinished(() => full.close());
    const child = spawn(process.execPath, [BINARY, 'start', '--port', '0'], {
      cwd,
      stdio: ['ignore', full.fd, full.fd],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    await run(['wait', '--timeout', '20s'], { cwd });
    const { url } = JSON.parse(await readFile(join(cwd, '.gateway-sim', 'server.json'), 'utf8')) as {
      url: string;
    };
    for (let number = 0; number < 20; number++) await fetch(`${url}/nowhere`);
    expect(await (await fetch(`${url}/_sim/livez`)).json()).toEqual({ status: 'live' });
    child.kill('SIGTERM');
    // It ended as it was asked to, but what it had to say is lost.
    expect(await exited).toEqual([5, null]);
  },
);
