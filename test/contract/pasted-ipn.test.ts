import { describe, expect, it } from 'vitest';
import { curlCommand } from '../../src/contract/curl.ts';
import { ipnBodyIn, isDeliveryId } from '../../src/contract/pasted-ipn.ts';

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
    ['any other text', 'order-1', 'order-1'],
  ])('is read from %s', (_, pasted, body) => {
    expect(ipnBodyIn(pasted)).toBe(body);
  });

  // Each text would take seconds if a search started at every line break.
  it.each([
    ['', 'status=success'],
    ['--> POST /ipn  answered 200\n', 'x'],
  ])('is read quickly, even with thousands of empty lines', (before, body) => {
    const text = `${body}${'\n'.repeat(150_000)}x`;
    expect(ipnBodyIn(`${before}${text}\n`) === text).toBe(true);
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
