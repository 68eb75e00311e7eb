// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shells have placeholders, too
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filledAddress, readCommand, runCommand, Withheld } from '../../src/audit/command.ts';
import { withPreset } from '../../src/audit/presets.ts';
import { AUDIT_PRESETS } from '../../src/contract/audit.ts';
import { namesOf } from '../../src/contract/vocabulary.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';
import { HOSTILE, hostileText, printedBy, SHELLS } from '../helpers/shells.ts';

/** What no command is given. */
const WITHHELD: [value: string, why: string][] = [
  ["\u0007';touch PWNED #", 'control character'],
  ['a\ntouch PWNED', 'control character'],
  ['\u009b31m', 'control character'],
  ['\u007f', 'control character'],
  ['--exec=system("id");', 'like an option'],
  ['-', 'like an option'],
  ['\ud800', 'not valid Unicode'],
  ['x'.repeat(5_000), 'more than 4096 characters'],
];

/** What keeps this process from its end. */
const pipes = () => process.getActiveResourcesInfo().filter((name) => /Pipe|Process/.test(name)).length;

const command = (text: string) => readCommand('the probe command', text);

describe('a command of the user', () => {
  it.each([
    ['./status {identifier}', './status "$GATEWAY_SIM_IDENTIFIER"'],
    ['a --id={identifier}', 'a --id="$GATEWAY_SIM_IDENTIFIER"'],
    ['cat o/{identifier}.json', 'cat o/"$GATEWAY_SIM_IDENTIFIER".json'],
    ['SHOP_ORDER={identifier} php x', 'SHOP_ORDER="$GATEWAY_SIM_IDENTIFIER" php x'],
    ["awk '{print $1}' {trx}", `awk '{print $1}' "$GATEWAY_SIM_TRX"`],
    [`a "b \\" c" {amount} 'd "'`, `a "b \\" c" "$GATEWAY_SIM_AMOUNT" 'd "'`],
    ["a \\' {ipn_url} \\'", `a \\' "$GATEWAY_SIM_IPN_URL" \\'`],
    ['a $(b "c)" {success_url}) d', 'a $(b "c)" "$GATEWAY_SIM_SUCCESS_URL") d'],
    ['a "${B:-c}" {order}', 'a "${B:-c}" "$GATEWAY_SIM_ORDER"'],
    ["a # it's\nb {identifier}", `a # it's\nb "$GATEWAY_SIM_IDENTIFIER"`],
    ['a \\{identifier}', 'a \\{identifier}'],
    ['a "$GATEWAY_SIM_IDENTIFIER" "$(b)"', 'a "$GATEWAY_SIM_IDENTIFIER" "$(b)"'],
    ["node -e 'a({ order })'", "node -e 'a({ order })'"],
  ])('has variables in the place of placeholders: %s', (given, line) => {
    expect(command(given).line).toBe(line);
  });

  it.each([
    'a "{identifier}"',
    "a '{identifier}'",
    "sh -c 'a {identifier}'",
    'a "b {identifier} c"',
    'a "$(b {identifier})"',
    'a "`b {identifier}`"',
    "a b#c' {identifier} 'd",
    'a "\\" {identifier}"',
    'a "{identifier}',
    'a ${identifier}',
  ])('with a placeholder inside quotes is refused, with the right spelling: %s', (given) => {
    expect(() => command(given)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringMatching(
          /outside of quotes, or \$GATEWAY_SIM_IDENTIFIER between double quotes/,
        ),
      }),
    );
  });

  it.each([
    ["a $'\\'' {identifier} '", "a command with $'"],
    ['a "$(b)" {identifier}', 'a command with "…$(…"'],
    ['a "$(b "{identifier}")"', 'write "$GATEWAY_SIM_IDENTIFIER" instead'],
    ['a "${B:-"c"}" {identifier}', 'a command with "…${…"'],
    ['a `b {identifier}`', 'a command with `'],
    [
      `a \${B:- #}'
{identifier}'`,
      'a command with ${',
    ],
    ['cat <<E\n{identifier}\nE', 'a command with <<'],
    ['a $(( {identifier} + 1 ))', 'bash evaluates'],
    ['[[ {identifier} -gt 1 ]]', 'bash evaluates'],
    ['a $[{identifier}]', 'bash evaluates'],
    ['a[{identifier}]=1', 'bash evaluates'],
    ['a ${B:{identifier}}', 'bash evaluates'],
  ])(
    'in which a shell may see quotes elsewhere, or run what it calculates with, is refused: %s',
    (given, said) => {
      expect(() => command(given)).toThrow(expect.objectContaining({ code: 'usage' }));
      expect(() => command(given)).toThrow(said);
    },
  );

  it('asks for nothing that is not known there', () => {
    expect(() => readCommand('the order command', 'a {trx}', ['ipn_url'])).toThrow(
      'uses {trx}, which is not available there: use {ipn_url}',
    );
    expect(() => readCommand('the probe command', 'a {order}', ['identifier'])).toThrow(
      'which is known only if an order command or function prints it',
    );
  });

  it('is told of no order on Windows, whose shell reads variables as commands', () => {
    const on = (text: string) => readCommand('the probe command', text, undefined, 'win32');
    for (const text of ['a {identifier}', 'a %GATEWAY_SIM_IDENTIFIER%']) {
      expect(() => on(text)).toThrow('on Windows, use a URL instead');
    }
    expect(on('npm run place-order').line).toBe('npm run place-order');
  });
});

it('leaves nothing running when it has ended', async () => {
  const running = { environment: {}, limitMs: 20_000 };
  const pid = Number(await runCommand(command('sleep 600 >/dev/null 2>&1 & echo $!'), {}, running));
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

/** A process that leaves the group of its command, and holds on to its pipes. */
const leaving = async () => {
  const file = join(await temporaryFolder(), 'pid');
  const line = `setsid sh -c 'echo $$ > "${file}"; exec sleep 600' & until [ -s '${file}' ]; do sleep 0.02; done`;
  const pid = async () => Number(await readFile(file, 'utf8').catch(() => ''));
  onTestFinished(async () => void process.kill(await pid(), 'SIGKILL'));
  return { line, pid };
};

describe('a command with something that has left its group', () => {
  it('ends when it has ended itself, with what it printed', async () => {
    const { line } = await leaving();
    const running = { environment: {}, limitMs: 20_000 };
    expect(await runCommand(command(`${line}; echo paid`), {}, running)).toBe('paid\n');
  });

  it('is let go of when it is cancelled: nothing of it keeps this process', async () => {
    const { line, pid } = await leaving();
    const cancelled = new AbortController();
    const before = pipes();
    const run = runCommand(
      command(`${line}; sleep 600`),
      {},
      { environment: {}, cancelled: cancelled.signal },
    );
    await expect.poll(pid).toBeGreaterThan(1);
    cancelled.abort(new Error('cancelled'));
    await expect(run).rejects.toThrow('cancelled');
    await expect.poll(pipes).toBe(before);
  });
});

describe('a value of an order', () => {
  const run = async (text: string, identifier: string) => {
    const cwd = await temporaryFolder();
    const moved = `cd '${cwd}' && { ${command(text).line}\n}`;
    const running = { environment: {}, limitMs: 20_000 };
    const said = await runCommand({ ...command(text), line: moved }, { identifier, amount: '1' }, running);
    expect(readdirSync(cwd)).toEqual([]);
    return said;
  };

  it.each(HOSTILE.filter(Boolean))('reaches a command as it is: %s', async (identifier) => {
    const words = `printf '<%s>' {identifier} --id={identifier} "$GATEWAY_SIM_IDENTIFIER" {amount}`;
    expect(await run(words, identifier)).toBe(`<${identifier}><--id=${identifier}><${identifier}><1>`);
  });

  it.each(WITHHELD.map(([value, why]) => [why, value] as const))(
    'is handed to no command: %s',
    async (why, identifier) => {
      const withheld = run('echo {identifier}', identifier);
      await expect(withheld).rejects.toThrow(Withheld);
      await expect(withheld).rejects.toThrow(why);
      // Nor is it there for one that does not name it.
      expect(await run('env | grep -q GATEWAY_SIM_IDENT || echo {amount}', identifier)).toBe('1\n');
    },
  );
});

it.each(['.', '..'])('an address is not filled with %s, by which it would be another one', (identifier) => {
  const url = 'http://localhost/orders/{identifier}';
  expect(() => filledAddress(url, { identifier })).toThrow(Withheld);
  expect(filledAddress(url, { identifier: `${identifier}/` })).toBe(
    `http://localhost/orders/${identifier}%2F`,
  );
});

/** Of texts in all: so many at a time are read by one process of each shell. */
const COUNT = IS_RELEASE ? 10_000 : 300;
const AT_A_TIME = 500;

function sampled(texts: fc.Arbitrary<string>): string[][] {
  const all = fc.sample(texts, COUNT);
  const starts = Array.from({ length: Math.ceil(COUNT / AT_A_TIME) }, (_, page) => page * AT_A_TIME);
  return starts.map((from) => all.slice(from, from + AT_A_TIME));
}

const LINES = [
  { text: "printf '%s\\0' {identifier}", prints: (value: string) => value },
  { text: "printf '%s\\0' --id={identifier}", prints: (value: string) => `--id=${value}` },
  { text: `printf '%s\\0' "a b"/{identifier}'.c d'`, prints: (value: string) => `a b/${value}.c d` },
  { text: `X={identifier}; printf '%s\\0' "$X"`, prints: (value: string) => value },
];

describe.each(SHELLS)('in %s', (...shell) => {
  it('nothing is run of any identifier, and it is one word', async () => {
    const cwd = await temporaryFolder();
    const isGiven = (value: string) => /^[^\p{Cc}-]\P{Cc}*$/u.test(value);
    for (const values of sampled(hostileText.filter(isGiven))) {
      const env = Object.fromEntries(values.map((value, index) => [`V${index}`, value]));
      const script = values.map((_, index) =>
        [`GATEWAY_SIM_IDENTIFIER=$V${index}`, ...LINES.map(({ text }) => command(text).line)].join('\n'),
      );
      const words = values.flatMap((value) => LINES.map(({ prints }) => prints(value)));
      expect(printedBy(shell, `${script.join('\n')}\n`, { cwd, env })).toEqual([...words, '']);
    }
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('a placeholder is one word in every command that is accepted', async () => {
    const leaf = fc.constantFrom(
      ...[
        '{identifier}',
        '{identifier}',
        'a',
        ' ',
        ' ',
        '\n',
        '#',
        '\\',
        "'",
        '"',
        '$',
        '{',
        '[',
        "\\'",
        '\\"',
      ],
      ...['${B}', "$'\\''", '<<', '; c '],
    );
    const { text } = fc.letrec<{ text: string; part: string }>((tie) => ({
      part: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        leaf,
        ...[leaf, tie('text').map((inner) => `"${inner}"`), tie('text').map((inner) => `'${inner}'`)],
        ...[tie('text').map((inner) => `$(c ${inner})`), tie('text').map((inner) => `\${B:-${inner}}`)],
      ),
      text: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    }));
    const value = 'X  --Y *';
    const head = `c() { for word in "$@"; do case $word in *"${value}"*) printf W;; *X*|*--Y*) printf S;; esac; done; }`;
    let found = 0;
    // Most are refused, or no command at all.
    for (const page of sampled(text.map((one) => `c ${one}`))) {
      const lines = page.flatMap((one) => {
        try {
          return command(one).line.includes('IDENTIFIER') ? [command(one).line] : [];
        } catch {
          return [];
        }
      });
      const env = Object.fromEntries(lines.map((line, index) => [`L${index}`, line]));
      // What is no command of a shell is not run, and ends its own subshell only.
      const script = lines.map((_, index) => `( eval "$L${index}" )\nprintf '\\0'`);
      const said = printedBy(shell, `${[head, ...script].join('\n')}\n`, {
        env: { ...env, GATEWAY_SIM_IDENTIFIER: value },
      });
      found += said.filter((words) => words.includes('W')).length;
      expect(lines.filter((_, index) => said[index]?.includes('S'))).toEqual([]);
    }
    expect(found).toBeGreaterThan(0);
  });
});

describe('the commands of presets', () => {
  /** What stands in for the programs of a shop: it prints its arguments. */
  const stub = (name: string) => `${name}() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n`;
  const commands = namesOf(AUDIT_PRESETS).flatMap((preset) => {
    const { probeCmd } = withPreset({ ipnUrl: 'http://localhost/ipn', preset }, 'http://localhost/ipn');
    return probeCmd === undefined ? [] : [[preset, command(probeCmd).line] as const];
  });

  it.each(commands)('run nothing of an identifier: %s', async (_, line) => {
    const cwd = await temporaryFolder();
    for (const shell of sample(SHELLS, ([name]) => name === 'sh')) {
      for (const value of HOSTILE.filter(Boolean)) {
        const script = `${['wp', 'mysql'].map(stub).join('')}php() { printf '%s\\0' "$SHOP_ORDER"; }\n${line}\n`;
        const words = printedBy(shell, script, { cwd, env: { GATEWAY_SIM_IDENTIFIER: value } });
        const hex = Buffer.from(value).toString('hex');
        expect(words.some((word) => word === value || word.includes(`CAST(x'${hex}' AS CHAR)`))).toBe(true);
      }
    }
    expect(readdirSync(cwd)).toEqual([]);
  });
});
