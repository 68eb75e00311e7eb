import { describe, expect, it } from 'vitest';
import { curlCommand } from '../../src/contract/curl.ts';
import { ipnBodyIn, isDeliveryId } from '../../src/diagnosis/pasted-ipn.ts';

const FORM = 'status=success&signature=AB&identifier=it%27s+1&data%5Bamount%5D=49.90';
const JSON_BODY = '{"status":"success","signature":"AB","identifier":"it\'s 1","data":{"amount":"49.90"}}';
const posted = {
  url: 'http://localhost/ipn',
  contentType: 'application/json',
  body: JSON_BODY,
  attempts: [],
};

describe('a pasted IPN', () => {
  it.each([
    ['a form', FORM, FORM],
    ['JSON', JSON_BODY, JSON_BODY],
    ['a form with newlines around it', `\r\n${FORM}\n\n`, FORM],
    ['a form after a byte order mark', `\uFEFF${FORM}`, FORM],
    ['a body with a line break', `${FORM} b\nnote=abc`, `${FORM} b\nnote=abc`],
    ['a curl command of the emulator', curlCommand(posted), JSON_BODY],
    [
      'a curl command with double quotes',
      String.raw`curl -d "{\"status\":\"success\"}" http://x`,
      '{"status":"success"}',
    ],
    [
      'a curl command with a field per option',
      `curl \\\n -d status=success \\\n --data-urlencode 'identifier=it'\\''s 1' http://x/`,
      "status=success&identifier=it's 1",
    ],
    ['any other text', 'order-1', 'order-1'],
  ])('is read from %s', (_, pasted, body) => {
    expect(ipnBodyIn(pasted)).toBe(body);
  });

  const VAR_DUMP = `array(3) {
  ["status"]=>
  string(7) "success"
  ["identifier"]=>
  string(6) "it's 1"
  ["data"]=>
  array(1) {
    ["amount"]=>
    string(5) "49.90"
  }
}`;
  const PRINT_R = `Array
(
    [status] => success
    [identifier] => it's 1
    [data] => Array
        (
            [amount] => 49.90
        )

)`;

  it.each([
    ['var_dump', VAR_DUMP],
    ['var_dump with Xdebug', `/app/ipn.php:3:\n${VAR_DUMP.replace(/\["(\w+)"\]=>/g, "'$1' =>")}`],
    [
      'var_dump of JSON',
      VAR_DUMP.replace(/array(?=\()/g, 'object(stdClass)#1 ').replace(/string.*49.90"/, 'float(49.90)'),
    ],
    ['print_r', PRINT_R],
    ['print_r of JSON', PRINT_R.replaceAll('Array', 'stdClass Object')],
    ['print_r in a log', `[27-Nov-2026 10:00:00 UTC] ${PRINT_R}\n[27-Nov-2026 10:00:01 UTC] done`],
    ['print_r of fields with flat names', PRINT_R.replace(/\[data\][\s\S]*/, '[data[amount]] => 49.90\n)')],
    ['print_r, twice', `${PRINT_R.replace('success', 'failed').replace('49', '7')}\n${PRINT_R}`],
    [
      'print_r of the whole request',
      `Array\n(\n[post] => ${PRINT_R}\n[get] => Array\n(\n[status] => x\n)\n)`,
    ],
  ])("is read from the output of PHP's %s", (_, pasted) => {
    const { status, identifier, ...data } = Object.fromEntries(new URLSearchParams(ipnBodyIn(pasted)));
    expect({ status, identifier, data }).toEqual({
      status: 'success',
      identifier: "it's 1",
      data: { 'data[amount]': '49.90' },
    });
  });

  it('is read from values with quotes that var_dump does not escape', () => {
    const value = 'Zoë ["status"]=> string(1) "x"';
    const printed = `string(${Buffer.byteLength(value)}) "${value}"`;
    const form = new URLSearchParams(ipnBodyIn(VAR_DUMP.replace('string(6) "it\'s 1"', printed)));
    expect([form.get('identifier'), form.get('status')]).toEqual([value, 'success']);
  });

  // Each text would take seconds if a search started at every line break.
  it.each([
    ['', 'status=success'],
    ['curl -d ', 'x'],
  ])('is read quickly, even with thousands of empty lines: %s', (before, body) => {
    const text = `${before}${body}${'\n'.repeat(150_000)}x`;
    expect(ipnBodyIn(`${text}\n`)).toHaveLength(before ? body.length : text.length);
  });

  it.each(['["', "'", '[a] => Array\n', '["a"]=>\narray(1) {', 'string(9) "', '{', "curl -d '", '\n', ' '])(
    'is read quickly from hostile text: %j',
    (part) => {
      const started = performance.now();
      ipnBodyIn(`curl -d '${part.repeat(65_000 / part.length)}`);
      ipnBodyIn(part.repeat(65_000 / part.length));
      expect(performance.now() - started).toBeLessThan(5_000);
    },
  );

  it('may be the id of an IPN, which never looks like a body', () => {
    expect(['ipn_1a', ' ipn_1a\n', FORM, 'ipn_1=2', ''].map(isDeliveryId)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
