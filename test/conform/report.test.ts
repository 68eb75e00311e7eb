import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/conform/expectation.ts';
import { maskAll } from '../../src/conform/mask.ts';
import { conformJunit, reportOf } from '../../src/conform/report.ts';
import { inForce, LINES, linesNamed } from '../helpers/conform.ts';

describe('a report to share', () => {
  const line = linesNamed('refusal-key')[0] ?? expect.fail('no such line');
  const keys = ['sec_live_0123456789abcdef', 'a-public-key-of-their-own'];
  const ipnUrl = 'https://a1b2c3.tunnel.example/ipn';

  const maskedWith = (verdict: Verdict) =>
    reportOf('https://pay.example', inForce({}), new Map([[line, verdict]]), maskAll(keys, ipnUrl));

  /** The part of a mismatch that is in the file. */
  function written(got: string, expected = 'a refusal') {
    const mismatch = { expected, got, cause: `${expected}, got ${got}` };
    const verdict = { mismatches: [mismatch], met: [], isNoRoute: false };
    const masked = maskedWith(verdict);
    const [differ = expect.fail('no difference')] = masked.differ;
    const [{ cause } = expect.fail('no cause')] = masked.causes;
    return { ...differ, cause };
  }

  const mail = 'bob.builder@mail.test';
  const page = JSON.stringify(
    `<td>${mail.replace('@', '&#64;')}</td><input name="customer_name" value="Bob Builder">`,
  );
  const customer = { email: mail, holder_name: 'Bob "B" Builder', cvc: 123, card_number: '4111111111111111' };
  const inJson = JSON.stringify(customer).replace('@', '\\u0040');
  const form = new URLSearchParams({
    customer_email: mail,
    'data[account_holder]': 'Bob Builder',
    key: keys[1] ?? '',
  });
  const filler = 'x'.repeat(220);

  it.each([
    ['JSON', inJson],
    ['JSON in JSON', JSON.stringify({ message: inJson })],
    ['JSON in a form', `payload=${encodeURIComponent(inJson)}`],
    ['JSON in a page', inJson.replaceAll('"', '&quot;')],
    ['a form', form.toString()],
    ['a page', page],
    [
      'a sentence',
      `"no ${mail} from 203.0.113.7 or 2001:db8::17, card 4111 1111 1111 1111, +44 20 7946 0958"`,
    ],
    ['keys', `"${keys.join(' ')}"`],
    ['the address of our IPNs', `"cannot reach ${ipnUrl}?conform=c1, host a1b2c3.tunnel.example"`],
    ['a truncated address', `"${filler}${mail}"`],
    ['a truncated key', `"${filler}${keys[1]}"`],
    ['a truncated name', `{"x":"${filler.slice(30)}","customer_name":"Bob Builder"}`],
  ])('contains no key, address, name or card number from %s', (_, body) => {
    const { got, cause } = written(body);
    for (const text of [got, cause]) {
      expect(text).not.toMatch(
        /bob|builder|mail\.test|4111|1111 1111|203\.0|db8|7946|[:A]\s*123|0123456789|their-own|a1b2|tunnel/i,
      );
      expect(text.length).toBeLessThan(300);
    }
  });

  it('contains no key or address in an expectation, either', () => {
    const { expected } = written('nothing', `an IPN at ${ipnUrl} signed with ${keys[0]}`);
    expect(expected).toBe('an IPN at … signed with sec_live…ef');
  });

  it('explains why a line was skipped, without showing the address of our IPNs', () => {
    const masked = maskedWith({ why: 'nothing is listening on a1b2c3.tunnel.example' });
    expect(masked.unseen).toEqual([{ id: line.id, why: 'nothing is listening on …' }]);
  });

  it('hides the values of personal fields, and shows their names', () => {
    expect(written('"Bob Builder"', 'data[account_holder] "Ada Example"')).toMatchObject({
      expected: 'data[account_holder] "Ada Example"',
      got: '…',
    });
    expect(written('"Bob"', 'data.name_on_card like /^A/')).toMatchObject({
      got: '…',
      cause: 'data.name_on_card like /^A/',
    });
    expect(written('nothing', 'data.email "x"').got).toBe('nothing');
  });

  it('shows what distinguishes one deployment from another', () => {
    const telling = [
      '{"error":"yes","errors":["The customer_name field is required.","identifier may have 20"]}',
      '"100.00000000"',
      '"2026-11-22 13:07:35"',
      '{"success":"ok","message":"Payment initiated."}',
    ];
    for (const got of telling) expect(written(got, 'a refusal that names customer_name').got).toBe(got);
  });

  it('has one test per line for CI servers', () => {
    const lines = LINES.slice(0, 3);
    const [one, two] = lines.map(({ id }) => id);
    const xml = conformJunit(
      {
        ...{ target: 'http://a', profile: 'document', agree: 1, causes: [] },
        differ: [{ id: one ?? '', expected: '"a" & <b>', got: 'nothing' }],
        unseen: [{ id: two ?? '', why: 'why not' }],
      },
      lines,
    );
    expect(xml).toContain('tests="3" failures="1" skipped="1"');
    expect(xml).toContain('expected: &quot;a&quot; &amp; &lt;b&gt;');
  });
});

it('escapes invisible and bidirectional characters for CI servers', () => {
  const [line = expect.fail('no line')] = LINES;
  const differ = [{ id: line.id, expected: 'a line\n', got: '\u202e1\u200b\ud800' }];
  const report = { target: 'http://a', profile: 'document', agree: 0, differ, causes: [], unseen: [] };
  expect(conformJunit(report, [line])).toContain('expected: a line\n\ngot: \\u202e1\\u200b\ufffd<');
});
