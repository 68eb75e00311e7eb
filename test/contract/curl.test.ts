import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { curlCommand, OBEYED_BY_TERMINALS, quoted } from '../../src/contract/curl.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { hostileText, printedBy, SHELLS } from '../helpers/shells.ts';

const DELIVERY = {
  url: 'http://127.0.0.1:3000/ipn',
  contentType: 'application/x-www-form-urlencoded',
  body: 'status=success',
  attempts: [],
} as const;

const ATTEMPT = {
  url: 'http://127.0.0.1:3000/ipn?a=1&b=%20x',
  requestHeaders: [
    ['Host', '127.0.0.1:3000'],
    ['Content-Type', 'application/json'],
    ['Content-Length', '2'],
    ['X-Gateway-Sim', '1'],
    ['Connection', 'keep-alive'],
  ] as [string, string][],
  requestBody: '{}',
};

/** Replaces curl: prints its arguments, then its input. */
const CURL = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; [ "$word" != @- ] || cat; }`;

const END = 'end of a command';

/** The words of commands as a shell parses them, each followed by its piped body. */
function wordsIn(shell: readonly string[], commands: readonly string[]): string[][] {
  const script = commands.map((command) => `${command}\nprintf '\\0%s\\0' '${END}'\n`).join('');
  const printed = printedBy(shell, `${CURL}\n${script}`).join('\0');
  return printed
    .split(`\0${END}\0`)
    .slice(0, -1)
    .map((text) => {
      const all = text.split('\0');
      const at = all.indexOf('@-') + 1;
      return at ? [...all.slice(0, at), all.slice(at).join('\0')] : all.slice(0, -1);
    });
}

const words = (command: string): string[] => wordsIn(['sh'], [command])[0] ?? [];

describe('a delivery as a curl command', () => {
  it('has the address, headers and bytes of its last attempt', () => {
    const command = curlCommand({ ...DELIVERY, attempts: [ATTEMPT] });
    expect(words(command)).toEqual([
      'http://127.0.0.1:3000/ipn?a=1&b=%20x',
      '-H',
      'Content-Type: application/json',
      '-H',
      'X-Gateway-Sim: 1',
      '--data-raw',
      '{}',
    ]);
  });

  it('has the request that will be sent before the first attempt', () => {
    expect(words(curlCommand(DELIVERY))).toEqual([
      'http://127.0.0.1:3000/ipn',
      '-H',
      'Content-Type: application/x-www-form-urlencoded',
      '--data-raw',
      'status=success',
    ]);
  });

  it('passes its body unchanged in every shell, without terminal control characters', () => {
    const bodies = [
      ...['\u001b[201~\nid\n', '\u0007', "it's \\ \u009b31m é", 'a\u202eb', "\u0007';touch PWNED #"],
      ...['-n \0 %s %% \\047 \\n\n\n', '\u0007'.repeat(9), '\r\n\u00077', '--\u0007'],
    ];
    const commands = bodies.map((body) => curlCommand({ ...DELIVERY, body }));
    for (const command of commands) expect(command.search(OBEYED_BY_TERMINALS)).toBe(-1);
    expect(commands.join()).not.toContain("$'");
    for (const shell of SHELLS) {
      expect([shell, wordsIn(shell, commands).map((all) => all.at(-1))]).toEqual([shell, bodies]);
    }
  });

  it('consists of words that every shell reads unchanged, whatever they contain', async () => {
    const cwd = await temporaryFolder();
    const texts = fc.sample(
      hostileText.filter((text) => !text.includes('\0') && text.isWellFormed()),
      IS_RELEASE ? 10_000 : 300,
    );
    const written = texts.map(quoted);
    expect(written.filter((word) => word.search(OBEYED_BY_TERMINALS) >= 0)).toEqual([]);
    for (const shell of SHELLS) {
      const script = written.map((word) => `printf '%s\\0' ${word}\n`).join('');
      expect(printedBy(shell, script, { cwd })).toEqual([...texts, '']);
    }
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('prevents curl from treating an address as a pattern', () => {
    const url = 'http://[::1]:3000/ipn?ids[]={1,2}';
    expect(words(curlCommand({ ...DELIVERY, url })).slice(0, 2)).toEqual(['--globoff', url]);
  });
});
