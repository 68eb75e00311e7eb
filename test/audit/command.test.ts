// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shells have placeholders, too
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filledAddress, readCommand, runCommand, Withheld } from '../../src/shop/command.ts';
import { isAlive } from '../../src/store/process-identity.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { HOSTILE, hostileText, printedBy, SHELLS } from '../helpers/shells.ts';

/** Values that are withheld from commands. */
const WITHHELD: [value: string, why: string][] = [
  ["\u0007';touch PWNED #", 'control character'],
  ['a\ntouch PWNED', 'control character'],
  ['\u009b31m', 'control character'],
  ['\u007f', 'control character'],
  ['--exec=system("id");', 'like an option'],
  ['-', 'like an option'],
  ['\ud800', 'not valid Unicode'],
  ['x'.repeat(5_000), 'more than 4096 characters'],
  ...HOSTILE.filter((value) => /[$`[]/.test(value)).map((value): [string, string] => [
    value,
    'bash may run it',
  ]),
];

/** Resources that keep this process running. */
const pipes = () => process.getActiveResourcesInfo().filter((name) => /Pipe|Process/.test(name)).length;

const command = (text: string) => readCommand('the probe command', text);

describe("the user's command", () => {
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
  ])('has variables instead of placeholders: %s', (given, line) => {
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
  ])('is rejected with a placeholder inside quotes, and the error shows the correct syntax: %s', (given) => {
    expect(() => command(given)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringMatching(/outside quotes, or \$GATEWAY_SIM_IDENTIFIER between double quotes/),
      }),
    );
  });

  it('is rejected for the placeholder that is inside quotes', () => {
    expect(() => command('a {identifier} "{trx}"')).toThrow(/^\{trx\} in .* write \{trx\} outside quotes/);
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
  ])('is rejected if shells parse its quotes differently or may run a value: %s', (given, said) => {
    expect(() => command(given)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(() => command(given)).toThrow(said);
  });

  it('is rejected if it uses a value that is not available', () => {
    expect(() => readCommand('the order command', 'a {trx}', ['ipn_url'])).toThrow(
      'uses {trx}, which is not available there: use {ipn_url}',
    );
    expect(() => readCommand('the probe command', 'a {order}', ['identifier'])).toThrow(
      'which is known only if an order command or function prints it',
    );
  });

  it('gets no values on Windows, where the shell runs variables as commands', () => {
    const on = (text: string) => readCommand('the probe command', text, undefined, 'win32');
    for (const text of ['a {identifier}', 'a %GATEWAY_SIM_IDENTIFIER%']) {
      expect(() => on(text)).toThrow('on Windows, use a URL instead');
    }
    expect(on('npm run place-order').line).toBe('npm run place-order');
  });
});

it('leaves no process running', async () => {
  const running = { environment: {}, mask: (text: string) => text, limitMs: 20_000 };
  const pid = Number(await runCommand(command('sleep 600 >/dev/null 2>&1 & echo $!'), {}, running));
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

/** A process that leaves its command's group and keeps the pipes open. */
const leaving = async () => {
  const file = join(await temporaryFolder(), 'pid');
  const line = `setsid sh -c 'echo $$ > "${file}"; exec sleep 600' & until [ -s '${file}' ]; do sleep 0.02; done`;
  const pid = async () => Number(await readFile(file, 'utf8').catch(() => ''));
  onTestFinished(async () => void process.kill(await pid(), 'SIGKILL'));
  return { line, pid };
};

it('a failed command is reported with the last line that it wrote to stderr', async () => {
  const failing = runCommand(
    command('echo one >&2; echo two >&2; exit 3'),
    {},
    { environment: {}, mask: (text: string) => text },
  );
  await expect(failing).rejects.toThrow(/ 3: two$/);
});

describe('a command with a process outside its group', () => {
  it('returns its output when it exits', async () => {
    const { line } = await leaving();
    const running = { environment: {}, mask: (text: string) => text, limitMs: 20_000 };
    expect(await runCommand(command(`${line}; echo paid`), {}, running)).toBe('paid\n');
  });

  it('is released when it is cancelled, and does not keep this process running', async () => {
    const { line, pid } = await leaving();
    const cancelled = new AbortController();
    const before = pipes();
    const run = runCommand(
      command(`${line}; sleep 600`),
      {},
      { environment: {}, mask: (text: string) => text, cancelled: cancelled.signal },
    );
    await expect.poll(pid).toBeGreaterThan(1);
    cancelled.abort(new Error('cancelled'));
    await expect(run).rejects.toThrow('cancelled');
    await expect.poll(pipes).toBe(before);
  });
});

describe("an order's value", () => {
  const run = async (text: string, identifier: string) => {
    const cwd = await temporaryFolder();
    const moved = `cd '${cwd}' && { ${command(text).line}\n}`;
    const running = { environment: {}, mask: (text: string) => text, limitMs: 20_000 };
    const said = await runCommand({ ...command(text), line: moved }, { identifier, amount: '1' }, running);
    expect(readdirSync(cwd)).toEqual([]);
    return said;
  };

  it.each(HOSTILE.filter((value) => /^[^$`[]+$/.test(value)))(
    'reaches a command unchanged: %s',
    async (identifier) => {
      const words = `printf '<%s>' {identifier} --id={identifier} "$GATEWAY_SIM_IDENTIFIER" {amount}`;
      expect(await run(words, identifier)).toBe(`<${identifier}><--id=${identifier}><${identifier}><1>`);
    },
  );

  it.skipIf(!SHELLS.some(([shell]) => shell === 'bash'))(
    'could be run by bash even from a variable',
    async () => {
      const cwd = await temporaryFolder();
      const env = { GATEWAY_SIM_IDENTIFIER: 'a[$(touch PWNED)]' };
      printedBy(['bash'], 'test -v "$GATEWAY_SIM_IDENTIFIER" || :', { cwd, env });
      expect(readdirSync(cwd)).toEqual(['PWNED']);
    },
  );

  it.each(WITHHELD.map(([value, why]) => [why, value] as const))(
    'is withheld from commands: %s',
    async (why, identifier) => {
      const withheld = run('echo {identifier}', identifier);
      await expect(withheld).rejects.toThrow(Withheld);
      await expect(withheld).rejects.toThrow(why);
      // Commands that do not use it cannot see it either.
      expect(await run('env | grep -q GATEWAY_SIM_IDENT || echo {amount}', identifier)).toBe('1\n');
    },
  );
});

it.each(['.', '..'])('an address does not accept the value %s, which would change its path', (identifier) => {
  const url = 'http://localhost/orders/{identifier}';
  expect(() => filledAddress(url, { identifier })).toThrow(Withheld);
  expect(filledAddress(url, { identifier: `${identifier}/` })).toBe(
    `http://localhost/orders/${identifier}%2F`,
  );
});

/** The total number of texts, and the number per shell process. */
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
  it('every identifier is one word, and is never executed', async () => {
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

  it('a placeholder is one word in every accepted command', async () => {
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
    // Most are rejected or invalid.
    for (const page of sampled(text.map((one) => `c ${one}`))) {
      const lines = page.flatMap((one) => {
        try {
          return command(one).line.includes('IDENTIFIER') ? [command(one).line] : [];
        } catch {
          return [];
        }
      });
      const env = Object.fromEntries(lines.map((line, index) => [`L${index}`, line]));
      // An invalid command ends only its subshell.
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
