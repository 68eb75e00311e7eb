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
  ['Django REST, of no field', json({ non_field_errors: [MISMATCH] }), MISMATCH],
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
  ['OAuth', json({ error: 'invalid_request', error_description: MISMATCH }), `invalid_request: ${MISMATCH}`],
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
  ['nested lists', json([[{ error: [[{ text: MISMATCH }]] }]]), MISMATCH],
  ['a text in JSON', json(MISMATCH), MISMATCH],
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
    'the debugger of Werkzeug',
    '<!doctype html>\n<html lang=en>\n<head>\n<title>KeyError: &#39;amount&#39;\n // Werkzeug Debugger</title>\n<script>var EVALEX = false, SECRET = "x is wrong";</script>\n</head>\n<body>\n<h1>KeyError</h1>\n<div class="detail">\n  <p class="errormsg">werkzeug.exceptions.BadRequestKeyError: 400 Bad Request: The browser (or proxy) sent a request that this server could not understand.\nKeyError: &#39;amount&#39;\n</p>',
    "werkzeug.exceptions.BadRequestKeyError: 400 Bad Request: The browser (or proxy) sent a request that this server could not understand. KeyError: 'amount'",
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
    'a list in a page',
    '<ul class="errorlist"><li>amount<ul><li>This field is required.</li></ul></li><li>status<ul><li>Not one of the choices.</li></ul></li></ul>',
    'This field is required.; Not one of the choices.',
  ],
  ['a text with a tag', 'The <b>signature</b> does not match.', MISMATCH],
  ['a text', `  ${MISMATCH}\n`, MISMATCH],
  ['a text of two paragraphs', `IPN of order-1\n\n${MISMATCH}`, MISMATCH],
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
