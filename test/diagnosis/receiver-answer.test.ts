import { expect, it } from 'vitest';
import {
  answerProblem,
  checkNamedIn,
  fixForReason,
  languageOf,
} from '../../src/diagnosis/receiver-answer.ts';

/** Maximum stored length of a response. */
const LENGTH = 65_536;

// Each response would take seconds if the rest of the response were searched after every match.
it.each([
  ['one long word', 'Error'.repeat(LENGTH / 5)],
  ['an endless word', 'a'.repeat(LENGTH)],
  ['unclosed styles', '<style'.repeat(LENGTH / 6)],
  ['unclosed titles', '<title'.repeat((4 * LENGTH) / 6)],
  ['unclosed tags', `Traceback (most recent call last)${'<'.repeat(2 * LENGTH)}`],
])('reads a response with %s quickly, and in short', (_, body) => {
  expect(answerProblem({ status: 500, headers: [], body })?.cause.length).toBeLessThan(500);
});

it.each<[headers: [string, string][], body: string, language: string | undefined]>([
  [[['Server', 'BaseHTTP/0.6 Python/3.12']], '', 'Python'],
  [[['X-Powered-By', 'PHP/8.3']], '', 'PHP'],
  [[['X-Powered-By', 'Express']], '', 'Node'],
  [[], 'at pay (/app/ipn.mjs:3:9)', 'Node'],
  [[['X-Powered-By', 'PHP/8.3']], 'at pay (/app/ipn.mjs:3:9)', undefined],
  [[], 'rejected', undefined],
])('a response with %j and “%s” reveals %s', (headers, body, language) => {
  expect(languageOf([{ headers, body }])).toBe(language);
});

it.each<[words: string, fix: RegExp]>([
  ['data: Field required', /the name data\[amount\]/],
  ["Cannot read properties of undefined (reading 'amount')", /a parser that nests fields/],
  ['data: Invalid input: expected object, received undefined', /the name data\[amount\]/],
  ["KeyError: 'data'", /the name data\[amount\]/],
  ["Required request parameter 'amount' is not present", /the name data\[amount\]/],
  ['Undefined array key "amount"', /the name data\[amount\]/],
  ["Cannot read properties of undefined (reading 'data')", /^Read the body as a form/],
  ['signature: This field is required.', /^Read the body as a form/],
  ['status: Field required; identifier: Field required', /^Read the body as a form/],
  ['Unexpected token s in JSON at position 0', /^Read the body as a form/],
  ['Input should be a valid dictionary or object to extract fields from', /^Read the body as a form/],
  ['order_ref: The field is required', /^An IPN has only the fields/],
  ['Missing required header X-Shop', /^An IPN has only the fields/],
  ['x-token: Field required', /without a login, a session or a token/],
  ['No API key was given', /without a login, a session or a token/],
  ["TypeError: Cannot read properties of null (reading 'total')", /^A value is missing there/],
  ["TypeError: Cannot read properties of null (reading 'status')", /^A value is missing there/],
  ["TypeError: Cannot read properties of null (reading 'amount')", /^A value is missing there/],
  ['Attempt to read property "amount" on null', /^A value is missing there/],
  ["AttributeError: 'NoneType' object has no attribute 'total'", /^A value is missing there/],
  ["AttributeError: 'NoneType' object has no attribute 'status'", /^A value is missing there/],
  ['identifier: Input should be a valid integer', /^The values of a form are text/],
  ['amount must be a number', /^The values of a form are text/],
  ["the URL doesn't end in a slash and you have APPEND_SLASH set", /with a slash/],
  ["Invalid HTTP_HOST header: 'shop.local'. You may need to add it to ALLOWED_HOSTS.", /host of ipn_url/],
])('the reason “%s” decides the fix', (words, fix) => {
  expect(fixForReason(words)).toMatch(fix);
});

it.each<[words: string, check: RegExp | undefined]>([
  ['The amount differs from the expected 49.90', /^Compare data\[amount\]/],
  ['wrong currency', /^Compare data\[currency\]/],
  ['status is not paid', /^A payment succeeded/],
  ['No Order matches the given query.', /^Look the order up/],
  ['The signature of the order does not match', undefined],
  ['NOK', undefined],
])('the words “%s” name no cause, but what to check', (words, check) => {
  expect(fixForReason(words)).toBeUndefined();
  expect(checkNamedIn(words)?.how).toEqual(check && expect.stringMatching(check));
});

it.each<[status: number, headers: [string, string][], body: string, cause: RegExp | undefined]>([
  [401, [], '', undefined],
  [401, [], '{"error":"Unauthorized"}', undefined],
  [401, [], 'the token of the signature is wrong', undefined],
  [401, [['WWW-Authenticate', 'Basic']], '', /requires a login \(401\)/],
  [
    401,
    [],
    '{"detail":"Authentication credentials were not provided."}',
    /login \(401\)\. .*: “Authentication cred/,
  ],
  [404, [], '<h1>404 Not Found</h1>', /^The route or the order does not exist \(404\)\.$/],
  [404, [], '{"message":"Order 17 is unknown"}', /\(404\)\. The response says: “Order 17 is unknown”\.$/],
  [
    502,
    [],
    '<title>502 Bad Gateway</title>',
    /^A proxy returned 502: the response from behind it was invalid/,
  ],
  [
    502,
    [],
    '{"errorMessage":"data is undefined"}',
    /^A proxy returned 502: .* The response says: “data is undefined”\.$/,
  ],
  [504, [], '', /^A proxy returned 504: your shop did not respond in time\.$/],
])('%i with %j and %s says only what it shows', (status, headers, body, cause) => {
  expect(answerProblem({ status, headers, body })?.cause).toEqual(cause && expect.stringMatching(cause));
});
