import { describe, expect, it } from 'vitest';
import { curlCommand } from '../../src/contract/curl.ts';
import { ipnBodyIn, isDeliveryId } from '../../src/contract/pasted-ipn.ts';
import { printedProblem } from '../../src/contract/printed-fields.ts';

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
    ['output of ipn listen', `--> POST /ipn  answered 200\n${FORM}\nvalid\n  identifier order-1\n`, FORM],
    [
      'output of ipn listen for several IPNs',
      `Listening for IPNs.\n--> POST /ipn  answered 400\nx=1\nnot valid\n  no\n\n--> POST /ipn  answered 400\n${JSON_BODY}\nnot valid\n  no`,
      JSON_BODY,
    ],
    [
      'output of ipn listen with a body of several lines',
      `--> POST /ipn  answered 400\n${JSON.stringify(JSON.parse(JSON_BODY), null, 2)}\nnot valid\n  no\n`,
      JSON.stringify(JSON.parse(JSON_BODY), null, 2),
    ],
    ['a body with a line break', `${FORM} b\nnote=abc`, `${FORM} b\nnote=abc`],
    ['a line of ipn listen --json', JSON.stringify({ event: 'ipn', body: FORM, verdict: {} }), FORM],
    [
      'several of these lines',
      `{"event":"ready"}\n${JSON.stringify({ event: 'ipn', body: JSON_BODY })}\n`,
      JSON_BODY,
    ],
    ['a request', `POST /ipn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n${FORM}`, FORM],
    ['a curl command', curlCommand(posted), JSON_BODY],
    [
      'one field per line',
      "status = success\nidentifier = it's 1\ndata[amount] = 49.90",
      'status=success&identifier=it%27s+1&data%5Bamount%5D=49.90',
    ],
    [
      'the bytes that Node prints',
      `<Buffer ${Buffer.from(FORM)
        .toString('hex')
        .replace(/..(?=.)/g, '$& ')}>`,
      FORM,
    ],
    ['the bytes in JSON', JSON.stringify(Buffer.from(FORM)), FORM],
    ['the bytes of a list', `Uint8Array(${FORM.length}) [ ${[...Buffer.from(FORM)].join(', ')} ]`, FORM],
    ['base64', Buffer.from(FORM).toString('base64'), FORM],
    [
      'the event of a cloud function',
      JSON.stringify({ body: Buffer.from(FORM).toString('base64'), isBase64Encoded: true }),
      FORM,
    ],
    ['JSON inside JSON', JSON.stringify(JSON_BODY).slice(1, -1), JSON_BODY],
    ['an address with the fields in its query', `http://localhost/ipn?${FORM}`, FORM],
    [
      'a multipart form',
      '--x\r\nContent-Disposition: form-data; name="status"\r\n\r\nsuccess\r\n--x\r\nContent-Disposition: form-data; name="data[amount]"\r\n\r\n49.90\r\n--x--\r\n',
      'status=success&data%5Bamount%5D=49.90',
    ],
    ['any other text', 'order-1', 'order-1'],
  ])('is read from %s', (_, pasted, body) => {
    expect(ipnBodyIn(pasted)).toBe(body);
  });

  const FLAT = `'status': 'success', 'identifier': "it's 1", 'data[amount]': '49.90'`;
  const LISTS = `'status': ['success'], 'identifier': ["it's 1"], 'data[amount]': ['49.90']`;
  const PAIRS = `[('status', 'success'), ('identifier', "it's 1"), ('data[amount]', '49.90')]`;
  const ARROWS = `"status" => "success", "identifier" => "it's 1", "data" => {"amount" => "49.90"}`;
  const DUMPED = `array:3 [▼
  "status" => "success"
  "identifier" => "it's 1"
  "data" => array:1 [▼
    "amount" => "49.90"
  ]
]`;
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
    ["PHP's var_dump", VAR_DUMP],
    ["PHP's var_dump with Xdebug", VAR_DUMP.replace(/\["(\w+)"\]=>/g, "'$1' =>")],
    ["PHP's print_r", PRINT_R],
    ["PHP's print_r in the source of a page", PRINT_R.replaceAll('>', '&gt;').replace("'", '&#039;')],
    [
      "PHP's var_export",
      "array (\n  'status' => 'success',\n  'identifier' => 'it\\'s 1',\n  'data' => \n  array (\n    'amount' => '49.90',\n  ),\n)",
    ],
    ["Laravel's dump", DUMPED.replaceAll('▼', '')],
    ["Laravel's dd", `^ ${DUMPED} // routes/web.php:20`],
    [
      "Laravel's dd of a request",
      `Illuminate\\Http\\Request {#43 ▼\n  +request: InputBag {#51 ▼\n #parameters: ${DUMPED}\n}\n  +query: InputBag {#52 ▶}\n}`,
    ],
    [
      'a log of Laravel',
      `[2026-11-27 10:00:00] local.INFO: ipn {"status":"success","identifier":"it's 1","data":{"amount":"49.90"}}  `,
    ],
    ['a query object of Node', `[Object: null prototype] {\n  ${FLAT.replaceAll(', ', ',\n  ')}\n}`],
    [
      'req.body of Express, with nested data',
      `{ status: 'success', identifier: "it's 1", data: [Object: null prototype] { amount: '49.90' } }`,
    ],
    ['URLSearchParams of Node', `URLSearchParams { ${FLAT.replaceAll(':', ' =>')} }`],
    ['a Map of Node', `Map(3) { ${FLAT.replaceAll(':', ' =>')} }`],
    ['console.log with other words', `POST /ipn body: { ${FLAT} }`],
    ['a Python dict', `{${FLAT}}`],
    ["Python's parse_qs", `{${LISTS}}`],
    [
      "Python's parse_qs of bytes",
      `{${LISTS.replaceAll(/(?=['"](?:status|success|identifier|it|data|49))/g, 'b')}}`,
    ],
    ["Python's parse_qsl", PAIRS],
    ['a QueryDict of Django', `<QueryDict: {${LISTS}}>`],
    ['an ImmutableMultiDict of Flask', `ImmutableMultiDict(${PAIRS})`],
    ['FormData of Starlette', `FormData(${PAIRS})`],
    ['a MultiDictProxy of aiohttp', `<MultiDictProxy(${FLAT})>`],
    ['a Python log', `INFO:root:received {${FLAT}}`],
    ["Go's url.Values", "map[data[amount]:[49.90] identifier:[it's 1] status:[success]]"],
    [
      "Go's url.Values in a log",
      "2026/11/27 10:00:00 map[data[amount]:[49.90] identifier:[it's 1] status:[success]]",
    ],
    [
      "Go's url.Values with %#v",
      `url.Values{"data[amount]":[]string{"49.90"}, "identifier":[]string{"it's 1"}, "status":[]string{"success"}}`,
    ],
    ['a Ruby hash', `{${ARROWS}}`],
    ['a Ruby hash with symbols', `{:status=>"success", :identifier=>"it's 1", :data=>{:amount=>"49.90"}}`],
    ['params of Rails', `#<ActionController::Parameters {${ARROWS}, "controller"=>"ipn"} permitted: false>`],
    [
      'a log of Rails',
      `Started POST "/ipn" for 127.0.0.1\n  Parameters: {${ARROWS}}\nCompleted 200 OK in 3ms`,
    ],
    ['an Elixir map', `%{${ARROWS.replace('{', '%{')}}`],
    ["Perl's Data::Dumper", `$VAR1 = {\n  ${ARROWS}\n};`],
    ['a Java map', "{status=success, identifier=it's 1, data[amount]=49.90}"],
    ['a Java map of lists', "{status=[success], identifier=[it's 1], data[amount]=[49.90]}"],
    ['the developer tools of a browser', "status: success\nidentifier: it's 1\ndata[amount]: 49.90"],
  ])('is read from what programs print: %s', (_, pasted) => {
    const { status, identifier, ...data } = Object.fromEntries(new URLSearchParams(ipnBodyIn(pasted)));
    expect({ status, identifier, amount: data['data[amount]'] }).toEqual({
      status: 'success',
      identifier: "it's 1",
      amount: '49.90',
    });
  });

  it('is read from values with quotes that var_dump does not escape', () => {
    const body = ipnBodyIn(VAR_DUMP.replace('string(6) "it\'s 1"', 'string(11) "Zoë "1" =>"'));
    expect(new URLSearchParams(body).get('identifier')).toBe('Zoë "1" =>');
  });

  it.each([
    ["Python's bytes", `b'${FORM}'`],
    ['a JSON text', JSON.stringify(FORM)],
    ['the source of a page', FORM.replaceAll('&', '&amp;')],
    ['a log', `[2026-11-27 10:00:00] local.DEBUG: body ${FORM}\n`],
    ['a file with a byte order mark', `\uFEFF${FORM}`],
  ])('is the form in %s', (_, pasted) => {
    expect(ipnBodyIn(pasted)).toBe(FORM);
  });

  it.each([
    ['body: [object Object]', 'JSON.stringify(req.body)'],
    ["{ req: { status: 'success', data: [Object] } }", 'JSON.stringify(req.body)'],
    ['Array', "file_get_contents('php://input')"],
    ['array:4 [▶]', '$request->getContent()'],
    ["array (size=1)\n  'status' => string 'success' (length=7)", "file_get_contents('php://input')"],
    ['<QueryDict: {}>', 'request.body in Django'],
    ['map[]', 'io.ReadAll(r.Body)'],
    ['#<ActionController::Parameters {} permitted: false>', 'request.raw_post'],
    ['{status=[Ljava.lang.String;@1b6d3586}', 'request.getReader()'],
  ])('that a program shows only in part is named, with the way to the raw body: %s', (pasted, rawBody) => {
    expect(printedProblem(pasted)).toContain(rawBody);
  });

  it.each([FORM, JSON_BODY, 'order-1'])('is not taken for the output of a program: %s', (text) => {
    expect(printedProblem(text)).toBeUndefined();
  });

  // Each text would take seconds if a search started at every line break.
  it.each([
    ['', 'status=success'],
    ['--> POST /ipn  answered 200\n', 'x'],
  ])('is read quickly, even with thousands of empty lines', (before, body) => {
    const text = `${body}${'\n'.repeat(150_000)}x`;
    expect(ipnBodyIn(`${before}${text}\n`) === text).toBe(true);
  });

  it.each([
    '{',
    '[(',
    '"\\',
    "'",
    'map[a:[',
    '{a=[',
    '[a] => Array\n',
    'string(9) "',
    '\n',
    'a: ',
    '&',
    'x=>',
  ])('is read quickly from hostile text: %j', (part) => {
    const started = performance.now();
    ipnBodyIn(part.repeat(65_000 / part.length));
    printedProblem(part.repeat(65_000 / part.length));
    expect(performance.now() - started).toBeLessThan(5_000);
  });

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
