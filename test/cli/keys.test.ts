import { describe, expect, it } from 'vitest';
import { BINARY, startBinary } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { printedBy, SHELLS } from '../helpers/shells.ts';

/** Sets the variables in a shell as the documentation says, and prints what a program then gets. */
const SCRIPT = `
eval "$('${process.execPath}' '${BINARY}' keys env --export)"
sh -c 'printf "%s\\0" "$GATEWAY_SIM_SECRET_KEY" "$GATEWAY_SIM_URL"'
ls PWNED 2>/dev/null || :`;

describe('keys env --export', () => {
  it('sets the variables in each shell, whatever the key is', async () => {
    const cwd = await temporaryFolder();
    const secretKey = `a'b\\'c"$(touch\${IFS}PWNED)\`d;e\\`;
    const { ready } = await startBinary(['--secret-key', secretKey], { cwd });
    for (const shell of SHELLS)
      expect([shell, printedBy(shell, SCRIPT, { cwd })]).toEqual([shell, [secretKey, ready.url, '']]);
  });

  it('sets and prints nothing without an emulator', async () => {
    const cwd = await temporaryFolder();
    expect(printedBy(['sh'], SCRIPT, { cwd, env: { GATEWAY_SIM_URL: 'http://127.0.0.1:9' } })).toEqual([
      '',
      'http://127.0.0.1:9',
      '',
    ]);
  });
});
