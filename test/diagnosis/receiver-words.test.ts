import { describe, expect, it } from 'vitest';
import { ownWords } from '../../src/diagnosis/receiver-words.ts';

const json = (value: unknown) => JSON.stringify(value, null, 2);
const MISMATCH = 'The signature does not match.';

/** What frameworks and shops answer, and the sentence that says why. */
const RESPONSES: readonly [of: string, body: string, words: string][] = [
  [
    'FastAPI',
    json({ detail: [{ type: 'missing', loc: ['body', 'data'], msg: 'Field required', input: null }] }),
    'data: Field required',
  ],
  ['FastAPI, a text', json({ detail: MISMATCH }), MISMATCH],
  [
    'Django REST',
    json({ amount: ['A valid number is required.'], signature: ['This field is required.'] }),
    'A valid number is required.; signature: This field is required.'.replace(/^/, 'amount: '),
  ],
  ['Django REST, of no field', json({ non_field_errors: [MISMATCH] }), MISMATCH],
  [
    'Django REST, nested',
    json({ data: { amount: ['This field is required.'] } }),
    'amount: This field is required.',
  ],
  [
    'forms of Django',
    json({ amount: [{ message: 'This field is required.', code: 'required' }] }),
    'amount: This field is required.',
  ],
  [
    'problem details',
    json({
      type: 'https://shop.example/problems/signature',
      title: 'Bad signature',
      status: 400,
      detail: MISMATCH,
      instance: '/ipn',
    }),
    MISMATCH,
  ],
  [
    'problem details with parameters',
    json({
      type: 'about:blank',
      title: 'Bad Request',
      'invalid-params': [{ name: 'amount', reason: 'must be a positive number' }],
    }),
    'amount: must be a positive number',
  ],
  [
    'ASP.NET',
    json({
      type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
      title: 'One or more validation errors occurred.',
      status: 400,
      errors: { Amount: ['The Amount field is required.'], Status: ['The value is not valid.'] },
      traceId: '00-84c1fd4063c38d9f3900d06e56542d48-85d1d4-00',
    }),
    'The Amount field is required.; Status: The value is not valid.',
  ],
  [
    'express-validator',
    json({ errors: [{ type: 'field', msg: 'Invalid value', path: 'amount', location: 'body' }] }),
    'amount: Invalid value',
  ],
  [
    'express-validator, by field',
    json({ amount: { type: 'field', msg: 'Invalid value', path: 'amount', location: 'body' } }),
    'amount: Invalid value',
  ],
  [
    'JSON:API',
    json({
      errors: [
        {
          status: '422',
          source: { pointer: '/data/attributes/total' },
          title: 'Invalid Attribute',
          detail: 'must be 49.90',
        },
      ],
    }),
    'total: must be 49.90',
  ],
  [
    'Spring',
    json({
      timestamp: '2026-11-29T10:00:00.000+00:00',
      status: 400,
      error: 'Bad Request',
      message: "Required request parameter 'amount' is not present",
      path: '/ipn',
    }),
    "Bad Request: Required request parameter 'amount' is not present",
  ],
  [
    'Spring, by field',
    json({
      error: 'Bad Request',
      message: "Validation failed for object='ipn'. Error count: 1",
      errors: [
        {
          codes: ['NotNull.ipn.amount', 'NotNull'],
          defaultMessage: 'must not be null',
          objectName: 'ipn',
          field: 'amount',
          rejectedValue: null,
          code: 'NotNull',
        },
      ],
    }),
    'amount: must not be null',
  ],
  ['Rails', json({ errors: { amount: ["can't be blank"] } }), "amount: can't be blank"],
  [
    'Rails in development',
    json({
      status: 500,
      error: 'Internal Server Error',
      exception: "#<NoMethodError: undefined method '[]' for nil>",
      traces: { 'Application Trace': [{ id: 0, trace: "app/controllers/ipn_controller.rb:4:in 'create'" }] },
    }),
    "#<NoMethodError: undefined method '[]' for nil>",
  ],
  [
    'Laravel',
    json({
      message: 'The data.amount field is required. (and 1 more error)',
      errors: { 'data.amount': ['The data.amount field is required.'], x: ['The x field is required.'] },
    }),
    'The data.amount field is required. (and 1 more error)',
  ],
  [
    'Laravel in development',
    json({
      message: 'Undefined array key "amount"',
      exception: 'ErrorException',
      file: '/var/www/app/Http/Controllers/IpnController.php',
      line: 9,
      trace: [{ file: '/var/www/vendor/x.php', line: 1, function: 'handleError' }],
    }),
    'ErrorException: Undefined array key "amount"',
  ],
  [
    'NestJS',
    json({
      statusCode: 400,
      message: ['amount must be a string', 'status should not exist'],
      error: 'Bad Request',
    }),
    'Bad Request: amount must be a string; Bad Request: status should not exist',
  ],
  [
    'Fastify',
    json({
      statusCode: 415,
      code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE',
      error: 'Unsupported Media Type',
      message: 'Unsupported Media Type',
    }),
    'Unsupported Media Type',
  ],
  [
    'Joi',
    json({
      _original: { status: 'success', signature: 'AB', 'data[amount]': '49.90' },
      details: [
        {
          message: '"amount" is required',
          path: ['amount'],
          type: 'any.required',
          context: { label: 'amount' },
        },
      ],
    }),
    '"amount" is required',
  ],
  [
    'Zod, as text in JSON',
    json({
      name: 'ZodError',
      message: json([
        { code: 'invalid_type', path: ['data', 'amount'], message: 'Invalid input: expected string' },
      ]),
    }),
    'data.amount: Invalid input: expected string',
  ],
  [
    'Ajv',
    json([
      {
        instancePath: '/data',
        schemaPath: '#/properties/data/type',
        keyword: 'type',
        message: 'must be object',
      },
    ]),
    'data: must be object',
  ],
  [
    'Google',
    json({
      error: {
        code: 400,
        message: 'Request contains an invalid argument.',
        status: 'INVALID_ARGUMENT',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.BadRequest',
            fieldViolations: [{ field: 'amount', description: 'The amount must be a decimal number.' }],
          },
        ],
      },
    }),
    'Request contains an invalid argument.',
  ],
  [
    'AWS Lambda',
    json({
      errorType: 'TypeError',
      errorMessage: "Cannot read properties of undefined (reading 'amount')",
      trace: ['TypeError: Cannot read properties', '    at Runtime.handler (/var/task/index.js:3:9)'],
    }),
    "Cannot read properties of undefined (reading 'amount')",
  ],
  ['OAuth', json({ error: 'invalid_request', error_description: MISMATCH }), `invalid_request: ${MISMATCH}`],
  [
    'WordPress',
    json({
      code: 'rest_missing_callback_param',
      message: 'Missing parameter(s): amount',
      data: { status: 400 },
    }),
    'Missing parameter(s): amount',
  ],
  [
    'Micronaut',
    json({ _embedded: { errors: [{ message: 'ipn.amount: must not be blank' }] }, message: 'Bad Request' }),
    'ipn.amount: must not be blank',
  ],
  [
    'Elysia',
    json({ type: 'validation', on: 'body', property: '/data/amount', message: 'Expected string' }),
    'data.amount: Expected string',
  ],
  [
    'ASP.NET before Core',
    json({
      Message: 'The request is invalid.',
      ModelState: { 'ipn.amount': ['The amount field is required.'] },
    }),
    'ipn.amount: The amount field is required.',
  ],
  ['an explanation', json({ result: { explanation: 'order already closed' } }), 'order already closed'],
  ['Chinese', json({ ret: -1, msg: '签名错误' }), '签名错误'],
  ['a code', json({ ok: false, code: 'SIGNATURE_MISMATCH' }), 'SIGNATURE_MISMATCH'],
  ['a reason', json({ accepted: false, reason: 'amount' }), 'amount'],
  [
    'an unknown key',
    json({ k: 7, told: ['Order 17 was never placed here'] }),
    'told: Order 17 was never placed here',
  ],
  [
    'a list of messages',
    json({ errors: [MISMATCH, 'The amount differs.'] }),
    `${MISMATCH}; The amount differs.`,
  ],
  ['nested lists', json([[{ error: [[{ text: MISMATCH }]] }]]), MISMATCH],
  ['a text in JSON', json(MISMATCH), MISMATCH],
  [
    'another language',
    json({ meldung: 'Der Betrag stimmt leider nicht' }),
    'meldung: Der Betrag stimmt leider nicht',
  ],
  [
    'four fields',
    json({ errors: { a: ['is bad'], b: ['is bad'], c: ['is bad'], d: ['is bad'] } }),
    'a: is bad; b: is bad; c: is bad; …',
  ],
  [
    'JSON that is incomplete',
    `{"message":"${MISMATCH} Please \\"sign\\" again.","trace":[{"file":"/app/x.php","args":["`,
    `${MISMATCH} Please "sign" again.`,
  ],
  [
    'Flask',
    `<!doctype html>\n<html lang=en>\n<title>400 Bad Request</title>\n<h1>Bad Request</h1>\n<p>${MISMATCH}</p>\n`,
    MISMATCH,
  ],
  [
    'the debugger of Werkzeug',
    '<!doctype html>\n<html lang=en>\n<head>\n<title>KeyError: &#39;amount&#39;\n // Werkzeug Debugger</title>\n<script>var EVALEX = false, SECRET = "x is wrong";</script>\n</head>\n<body>\n<h1>KeyError</h1>\n<div class="detail">\n  <p class="errormsg">werkzeug.exceptions.BadRequestKeyError: 400 Bad Request: The browser (or proxy) sent a request that this server could not understand.\nKeyError: &#39;amount&#39;\n</p>',
    "werkzeug.exceptions.BadRequestKeyError: 400 Bad Request: The browser (or proxy) sent a request that this server could not understand. KeyError: 'amount'",
  ],
  [
    'the debug page of Django',
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<title>RuntimeError\n          at /ipn</title>\n<style>\n  pre.exception_value { font-family: sans-serif; }\n</style>\n<script>\n  for (var e = 0; e < elems.length; e++) { fail("must not be read"); }\n</script>\n</head>\n<body>\n<header id="summary">\n  <h1>RuntimeError\n       <small>at /ipn</small></h1>\n  <pre class="exception_value">You called this URL via POST, but the URL doesn&#x27;t end in a slash and you have APPEND_SLASH set. Django can&#x27;t redirect to the slash URL while maintaining POST data. Change your form to point to 127.0.0.1/ipn/ (note the trailing slash), or set APPEND_SLASH=False in your Django settings.</pre>\n<p>You’re seeing this error because you have <code>DEBUG = True</code> in your Django settings file.</p>',
    "You called this URL via POST, but the URL doesn't end in a slash and you have APPEND_SLASH set. Django can't redirect to the slash URL while maintaining POST data. Change your form to point to 127.0.0.1/ipn/ (note the trailing slash), or set APPEND_SLASH=False in your Django settings.",
  ],
  [
    'Express',
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n<body>\n<pre>TypeError: Cannot read properties of undefined (reading &#39;amount&#39;)<br> &nbsp; &nbsp;at /app/ipn.js:6:42<br> &nbsp; &nbsp;at next (/app/router.js:157:13)</pre>\n</body>\n</html>\n',
    "TypeError: Cannot read properties of undefined (reading 'amount')",
  ],
  [
    'Ignition of Laravel',
    '<!doctype html>\n<html class="theme-light">\n<!--\nUndefined array key &quot;amount&quot; in file /var/www/app/Ipn.php on line 9\n\n#0 /var/www/vendor/x.php(255): handle()\n-->\n<head><title>🧨 Undefined array key &quot;amount&quot;</title><style>.x{content:"error"}</style></head><body><div id="app"></div></body></html>',
    '🧨 Undefined array key "amount"',
  ],
  [
    'Symfony',
    '<!-- The amount differs. (400 Bad Request) -->\n<!DOCTYPE html>\n<html lang="en"><head><title>The amount differs. (400 Bad Request)</title><style>h1{color:red}</style></head><body><div class="exception-summary"><h1 class="break-long-words exception-message">The amount differs.</h1></div>',
    'The amount differs.',
  ],
  [
    'the debug page of ASP.NET',
    '<!DOCTYPE html>\n<html lang="en"><head><title>Internal Server Error</title><style>body{}</style></head><body>\n<h1>An unhandled exception occurred while processing the request.</h1>\n<div class="titleerror">KeyNotFoundException: The given key &#x27;amount&#x27; was not present in the dictionary.</div>\n<p class="location">Shop.Ipn.Handle() in Ipn.cs</p>',
    "KeyNotFoundException: The given key 'amount' was not present in the dictionary.",
  ],
  [
    'the debug page of Rails',
    '<!DOCTYPE html>\n<html lang="en"><head><title>Action Controller: Exception caught</title></head><body><header role="banner"><h1>NoMethodError in IpnController#create</h1></header><main><h2 class="exception-message"><div class="message">undefined method &#39;[]&#39; for nil</div></h2>',
    "undefined method '[]' for nil",
  ],
  [
    'Spring without JSON',
    "<html><body><h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for /error, so you are seeing this as a fallback.</p><div id='created'>Sun Nov 29 10:00:00 UTC 2026</div><div>There was an unexpected error (type=Bad Request, status=400).</div><div>Required parameter &#39;amount&#39; is not present.</div></body></html>",
    "Required parameter 'amount' is not present.",
  ],
  [
    'Tomcat',
    '<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title></head><body><h1>HTTP Status 400 – Bad Request</h1><hr class="line" /><p><b>Type</b> Status Report</p><p><b>Message</b> The amount is not a number</p><p><b>Description</b> The server cannot or will not process the request due to something that is perceived to be a client error.</p></body></html>',
    'Message The amount is not a number',
  ],
  [
    'Bottle',
    '<!DOCTYPE HTML><html><head><title>Error: 400 Bad Request</title></head><body><h1>Error: 400 Bad Request</h1><p>Sorry, the requested URL <tt>/ipn</tt> caused an error:</p><pre>wrong amount</pre></body></html>',
    'wrong amount',
  ],
  [
    'nginx',
    '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n',
    '413 Request Entity Too Large',
  ],
  [
    'Apache',
    "<html><head>\n<title>403 Forbidden</title>\n</head><body>\n<h1>Forbidden</h1>\n<p>You don't have permission to access this resource.</p>\n<hr>\n<address>Apache/2.4.62 (Debian) Server at localhost Port 80</address>\n</body></html>",
    "You don't have permission to access this resource.",
  ],
  [
    'a page of WordPress',
    '<!DOCTYPE html><html><head><title>WordPress &rsaquo; Error</title><style>html{background:#f1f1f1}</style></head><body id="error-page"><div class="wp-die-message">The amount differs</div></body></html>',
    'The amount differs',
  ],
  [
    'a list in a page',
    '<ul class="errorlist"><li>amount<ul><li>This field is required.</li></ul></li><li>status<ul><li>Not one of the choices.</li></ul></li></ul>',
    'This field is required.; Not one of the choices.',
  ],
  ['a text with a tag', 'The <b>signature</b> does not match.', MISMATCH],
  ['a text', `  ${MISMATCH}\n`, MISMATCH],
  ['a text of two paragraphs', `IPN of order-1\n\n${MISMATCH}`, MISMATCH],
  [
    'a stack trace of Node',
    'Error: no amount\n    at pay (/app/ipn.js:3:9)\n    at next (/app/x.js:1:1)',
    'Error: no amount',
  ],
  [
    'a stack trace of Java',
    'java.lang.IllegalArgumentException: amount is missing\n\tat shop.Ipn.pay(Ipn.java:9)\nCaused by: java.lang.Error: x',
    'java.lang.IllegalArgumentException: amount is missing',
  ],
  [
    'a stack trace of .NET',
    "System.FormatException: The input string '49,90' was not in a correct format.\n   at Shop.Ipn.Pay() in /src/Ipn.cs:line 9",
    "System.FormatException: The input string '49,90' was not in a correct format.",
  ],
  [
    'a stack trace of Go',
    'panic: amount is missing\n\ngoroutine 1 [running]:\nmain.pay()\n\t/src/ipn.go:9',
    'panic: amount is missing',
  ],
  [
    'a stack trace of PHP',
    'PHP Fatal error:  Uncaught TypeError: pay(): Argument #1 must be of type string in /app/ipn.php:9\nStack trace:\n#0 /app/ipn.php(12): pay()',
    'PHP Fatal error: Uncaught TypeError: pay(): Argument #1 must be of type string in /app/ipn.php:9',
  ],
  [
    'a stack trace of Python',
    'Traceback (most recent call last):\n  File "/app/ipn.py", line 3, in pay\n    form["data"]\nKeyError: \'data\'\n',
    "KeyError: 'data'",
  ],
];

describe('the words of a receiver', () => {
  it.each(RESPONSES)('are the reason: %s', (_, body, words) => {
    expect(ownWords(body)).toBe(words);
  });

  it.each([
    ['{"success":false}', '{"success":false}'],
    ['{"status":400,"path":"/ipn"}', '{"status":400,"path":"/ipn"}'],
    ['\uFEFF NOK\n', 'NOK'],
    ['<html><body></body></html>', '<html><body></body></html>'],
    ['x'.repeat(300), `${'x'.repeat(200)}…`],
  ])('are the beginning of a response without a sentence: %s', (body, words) => {
    expect(ownWords(body)).toBe(words);
  });

  it.each(['', ' \r\n\t', '\uFEFF'])('are missing only if the body is empty: %j', (body) => {
    expect(ownWords(body)).toBeUndefined();
  });

  it.each([
    ['one long word', 'Error'.repeat(13_000)],
    ['unclosed styles', '<style'.repeat(11_000)],
    ['unclosed comments', '<!--'.repeat(16_000)],
    ['empty elements', '<a>'.repeat(20_000)],
    ['many attributes', `<x ${'a="b" '.repeat(10_000)}>`],
    ['deep JSON', `${'['.repeat(30_000)}"x"${']'.repeat(30_000)}`],
    ['many texts', json(Array.from({ length: 5_000 }, (_, index) => `the amount ${index} is wrong`))],
    ['broken JSON', `{${'"a":"b\\'.repeat(8_000)}`],
  ])('are found quickly in a response with %s', (_, body) => {
    expect(ownWords(body)?.length).toBeLessThanOrEqual(401);
  });
});
