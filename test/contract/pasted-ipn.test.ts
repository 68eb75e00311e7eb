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

describe('what is pasted to be checked', () => {
  it.each([
    ['a form', FORM, FORM],
    ['JSON', JSON_BODY, JSON_BODY],
    ['a form with newlines around it', `\r\n${FORM}\n\n`, FORM],
    ['what ipn listen printed', `--> POST /ipn  answered 200\n${FORM}\nvalid\n  identifier order-1\n`, FORM],
    [
      'what ipn listen printed of several',
      `Listening for IPNs.\n--> POST /ipn  answered 400\nx=1\nnot valid\n  no\n\n--> POST /ipn  answered 400\n${JSON_BODY}\nnot valid\n  no`,
      JSON_BODY,
    ],
    ['a line of ipn listen --json', JSON.stringify({ event: 'ipn', body: FORM, verdict: {} }), FORM],
    ['lines of it', `{"event":"ready"}\n${JSON.stringify({ event: 'ipn', body: JSON_BODY })}\n`, JSON_BODY],
    ['a request', `POST /ipn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n${FORM}`, FORM],
    ['a curl command', curlCommand(posted), JSON_BODY],
    [
      'its fields one a line',
      "status = success\nidentifier = it's 1\ndata[amount] = 49.90",
      'status=success&identifier=it%27s+1&data%5Bamount%5D=49.90',
    ],
    ['nothing of the kind', 'order-1', 'order-1'],
  ])('is read from %s', (_, pasted, body) => {
    expect(ipnBodyIn(pasted)).toBe(body);
  });

  // Seconds each where a run of them is tried from each of its ends on.
  it.each([
    ['', 'status=success'],
    ['--> POST /ipn  answered 200\n', 'x'],
  ])('is read at once, however many empty lines are within', (before, body) => {
    const text = `${body}${'\n'.repeat(150_000)}x`;
    expect(ipnBodyIn(`${before}${text}\n`) === text).toBe(true);
  });

  it('may be the id of an IPN, which no body looks like', () => {
    expect(['ipn_1a', ' ipn_1a\n', FORM, 'ipn_1=2', ''].map(isDeliveryId)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
