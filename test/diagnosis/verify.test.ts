import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requireTamperings, TAMPERINGS } from '../../src/contract/tampering.ts';
import { MISTAKE_FIXES, type SignatureMistake } from '../../src/diagnosis/mistakes.ts';
import { type Verification as Verdict, verify } from '../../src/diagnosis/verify.ts';
import { invent } from '../../src/service/ipn.ts';
import { fingerprint, sign } from '../../src/service/signature.ts';
import { character } from '../helpers/characters.ts';
import { NOW, PUBLIC_KEY, SECRET_KEY } from '../helpers/records.ts';

const KEYS = {
  secretKey: SECRET_KEY,
  publicKey: PUBLIC_KEY,
  merchants: [{ name: 'shop-2', secretKey: 'sec_sim_shop_2', publicKey: 'pub_sim_shop_2' }],
};

/** An IPN for a payment that does not exist. */
const MADE = { trx: 'TRX', now: NOW, secretKey: SECRET_KEY };

interface Made {
  amount?: string;
  identifier?: string;
  status?: string;
  signature: string;
}

/** The body of an IPN as deployments send it, with any signature. */
function form({ amount = '100', identifier = 'order-1', status = 'success', signature }: Made): string {
  return new URLSearchParams({ status, signature, identifier, 'data[amount]': amount }).toString();
}

const hmac = (text: string, key = SECRET_KEY) => createHmac('sha256', key).update(text).digest();
const upper = (text: string, key?: string) => hmac(text, key).toString('hex').toUpperCase();

function checked(made: Made, keys = KEYS): Verdict {
  return verify(form(made), keys);
}

function onlyReason(verdict: Verdict): string {
  expect(verdict.valid).toBe(false);
  expect(verdict.authentic).toBe(false);
  expect(verdict.reasons).toHaveLength(1);
  return verdict.reasons[0] ?? '';
}

describe('a correct IPN', () => {
  it.each(['form', 'json'] as const)('is valid as %s', (format) => {
    const { body } = invent({ identifier: 'order-1', amount: '100.00' }, MADE, { format });
    expect(verify(body, KEYS)).toMatchObject({
      valid: true,
      authentic: true,
      reasons: [],
      identifier: 'order-1',
      amount: '100.00',
      status: 'success',
      signedText: '100.00order-1',
      foundText: '100.00order-1',
    });
  });

  it('is valid with literal, unencoded brackets and a trailing newline from an editor', () => {
    const body = `status=success&identifier=order-1&data[amount]=49.9&signature=${upper('49.9order-1')}\n`;
    expect(verify(body, KEYS).valid).toBe(true);
  });

  it('is valid with any amount and identifier', () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), fc.string({ unit: character }), (amount, identifier) => {
        const signature = sign(amount, identifier, SECRET_KEY);
        const { valid } = checked({ amount, identifier, signature });
        expect(valid).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('is valid with an amount that a JSON number preserves', () => {
    const json = { status: 'success', identifier: 'o', signature: upper('49.9o'), data: { amount: 49.9 } };
    expect(verify(JSON.stringify(json), KEYS).valid).toBe(true);
  });
});

describe('a wrong signature is explained:', () => {
  it('mixed case and white space', () => {
    const signature = ` ${upper('100order-1').replace(/A/g, 'a')}`;
    expect(onlyReason(checked({ signature }))).toMatch(/letter case and white space/);
  });

  it.each([
    ['100', '100.00'],
    ['100.00', '100'],
    ['49.9', '49.90'],
    ['1234.5', '1,234.50'],
    ['49.90', '4990'],
  ])('the amount %s signed as %s', (amount, signed) => {
    const reason = onlyReason(checked({ amount, signature: upper(`${signed}order-1`) }));
    expect(reason).toBe(`you signed ${signed}. Sign the amount exactly as it arrived: ${amount}`);
  });

  it('the public key of the merchant, even if another public key is given', () => {
    const own = { name: 'shop-1', secretKey: SECRET_KEY, publicKey: PUBLIC_KEY };
    const keys = { secretKey: SECRET_KEY, publicKey: 'pub_sim_given', merchants: [own] };
    for (const key of [PUBLIC_KEY, 'pub_sim_given']) {
      const verdict = checked({ signature: upper('100order-1', key) }, keys);
      expect(onlyReason(verdict)).toContain('signed with the public key');
      expect(verdict.mistake).toBe('public-key');
    }
  });

  it.each([
    [`${SECRET_KEY}\n`, 'ends with a line break'],
    [` ${SECRET_KEY}`, 'starts with a space'],
    [`${SECRET_KEY}\r`, 'ends with a carriage return'],
    [`\uFEFF${SECRET_KEY}`, 'starts with a byte order mark'],
    [`${SECRET_KEY}\u200b`, 'ends with a zero-width space'],
  ])('an invisible character before or after the secret key to check with: %j', (key, what) => {
    const reason = onlyReason(checked({ signature: upper('100order-1') }, { ...KEYS, secretKey: key }));
    expect(reason).toBe(`the secret key ${what}: remove it`);
  });

  it.each([
    ['base64', hmac('100order-1').toString('base64')],
    [
      'base64 whose plus signs a form decoded as spaces',
      hmac('100order-1').toString('base64').replaceAll('+', ' '),
    ],
  ])('%s instead of hexadecimal', (_, signature) => {
    expect(onlyReason(checked({ signature }))).toMatch(/base64: it must be upper-case hexadecimal/);
  });

  it.each(['100.00', '100'])('a JSON number %s that lost its zeros in parsing', (written) => {
    const signature = upper('100.00order-1');
    const body = `{"status":"success","identifier":"order-1","signature":"${signature}","data":{"charge":1,"amount":${written}}}`;
    const verdict = verify(body, KEYS);
    expect(verdict).toMatchObject({ signedText: '100order-1', expected: upper('100order-1') });
    const reason = onlyReason(verdict);
    expect(reason).toMatch(/JSON number.*drops trailing zeros/);
    expect(reason).toContain('100.00 was signed, but the parsed amount is 100;');
  });

  it('two mistakes, naming both', () => {
    const signature = upper('100.00order-1', PUBLIC_KEY).toLowerCase();
    const { reasons } = checked({ signature });
    expect(reasons).toHaveLength(3);
    expect(reasons.join('\n')).toMatch(/you signed[\s\S]*public key[\s\S]*case/);
  });

  it('unknown, with the expected signature', () => {
    const verdict = checked({ signature: upper('100order-1', 'quite another key') });
    expect(onlyReason(verdict)).toMatch(/none of|neither/);
    expect(verdict).toMatchObject({ expected: upper('100order-1'), signedText: '100order-1' });
  });

  it.each(['', '  '])('empty: %j', (signature) => {
    expect(onlyReason(checked({ signature }))).toBe('signature is empty: nothing was signed');
  });

  it('a replaced key, if it is the key to check with', () => {
    const replaced = [{ replacedAt: '2026-05-01T09:30:00.000Z', fingerprint: fingerprint('sec_old') }];
    const verdict = verify(form({ signature: upper('100order-1') }), { secretKey: 'sec_old', replaced });
    expect(onlyReason(verdict)).toBe(
      'the secret key given here was replaced at 2026-05-01 09:30:00 UTC: it is no longer used',
    );
  });

  it('made before the keys were replaced', () => {
    const keys = { ...KEYS, formerKeys: [{ replacedAt: '2026-05-01T09:30:00.000Z', fingerprint: '' }] };
    const verdict = checked({ signature: upper('100order-1', 'sec_old') }, keys);
    expect(verdict.reasons[1]).toBe(
      'the keys were replaced at 2026-05-01 09:30:00 UTC: earlier IPNs were signed with the old keys',
    );
    expect(checked({ signature: upper('100order-1').toLowerCase() }, keys).reasons).toHaveLength(1);
  });

  it('without ever printing the secret key', () => {
    const bodies = ['x', upper('100order-1', `${SECRET_KEY}\n`), upper('order-1100')];
    for (const signature of bodies) {
      expect(JSON.stringify(checked({ signature }))).not.toContain(SECRET_KEY);
    }
  });
});

describe('problems other than the signature are reported:', () => {
  it.each(['canceled', 'failed', 'Success', ''])('a status %j', (status) => {
    const verdict = checked({ status, signature: upper('100order-1') });
    expect(verdict).toMatchObject({ valid: false, authentic: true });
    expect(verdict.reasons).toEqual([expect.stringContaining(`status is "${status}"`)]);
  });

  it.each(['signature', 'identifier', 'data[amount]', 'status'])('a missing %s', (name) => {
    const body = new URLSearchParams(form({ signature: upper('100order-1') }));
    body.delete(name);
    const { valid, expected, reasons } = verify(body.toString(), KEYS);
    expect(valid).toBe(false);
    // Without one of the others, no signature can be expected.
    expect(expected === null).toBe(name !== 'status');
    expect(reasons).toEqual([`${name.replace('[', '.').replace(']', '')} is missing`]);
  });

  it.each([
    ['', /empty/],
    ['{"status":', /looks like JSON but is not valid: .*: paste the raw body/],
    ['hello', /neither the form nor the JSON/],
    ['{"data":null,"signature":7}', /signature is missing/],
  ])('a body that is not an IPN: %j', (body, reason) => {
    const { valid, reasons } = verify(body, KEYS);
    expect(valid).toBe(false);
    expect(reasons[0]).toMatch(reason);
  });

  it('without ever throwing, for any input', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: character }), fc.json()), (body) => {
        expect(verify(body, KEYS).valid).toBe(false);
      }),
    );
  });
});

describe('a tampering', () => {
  it.each(TAMPERINGS.filter((name) => name !== 'currency'))('with the %s is detected', (tamper) => {
    const { body } = invent({ amount: '100.00' }, MADE, {
      format: 'form',
      tamper: new Map([[tamper, null]]),
    });
    expect(verify(body, KEYS).valid).toBe(false);
  });

  it('can be combined with all others, each with its value', () => {
    const tamper = requireTamperings([
      'amount=0.01',
      'status',
      'identifier=a=b',
      'case',
      'currency=XX',
      'case',
    ]);
    const { body, identifier } = invent({ identifier: 'order-1' }, MADE, { format: 'form', tamper });
    const sent = new URLSearchParams(body);
    const signature = sent.get('signature') ?? '';
    expect(Object.fromEntries(sent)).toMatchObject({
      ...{ 'data[amount]': '0.01', status: 'failed', identifier: 'a=b', 'data[currency][code]': 'XX' },
      signature: sign('100.00', 'order-1', KEYS.secretKey).toLowerCase(),
    });
    expect([identifier, signature]).toEqual(['order-1', signature.toLowerCase()]);
  });

  it.each([
    [['amount', 'amount=1'], /^tamper amount is given twice, with different values$/],
    ['signature=x', /^tamper signature does not accept a value \(got "signature=x"\)$/],
    [['status', 'amuont'], /^tamper must be one of .* \(got "amuont"\): did you mean amount\?$/],
  ])('is rejected if it is ambiguous or unknown: %j', (given, message) => {
    expect(() => requireTamperings(given)).toThrow(message);
  });

  it('of the currency is not detected, because the currency is not signed', () => {
    const { body } = invent({ currency: 'EUR' }, MADE, {
      format: 'form',
      tamper: new Map([['currency', null]]),
    });
    expect(new URLSearchParams(body).get('data[currency][code]')).toBe('GNF');
    expect(verify(body, KEYS).valid).toBe(true);
  });
});

describe("a signature computed by the merchant's code", () => {
  const fields = { amount: '49.90', identifier: 'order-7' };
  const sent = invent(fields, MADE, { format: 'form' }).body;
  const json = invent(fields, MADE, { format: 'json' }).body;
  const { amount, identifier } = fields;
  const text = amount + identifier;
  const digest = (algorithm: string, over: string) =>
    createHash(algorithm).update(over).digest('hex').toUpperCase();
  const hex = (over: string, key = SECRET_KEY) => upper(over, key);
  const form = new URLSearchParams(sent);
  form.delete('signature');
  const { signature: _, ...rest } = JSON.parse(json);

  it.each<[SignatureMistake | null, string, string?]>([
    [null, hex(text)],
    ['operands-swapped', hex(identifier + amount)],
    ['hmac-arguments-swapped', hex(SECRET_KEY, text)],
    ['hash-without-hmac', digest('sha256', text)],
    ['key-concatenated', digest('sha256', text + SECRET_KEY)],
    ['sha1', createHmac('sha1', SECRET_KEY).update(text).digest('hex').toUpperCase()],
    ['sha512', createHmac('sha512', SECRET_KEY).update(text).digest('hex').toUpperCase()],
    ['md5', digest('md5', text + SECRET_KEY)],
    ['amount-reformatted', hex(`49.9${identifier}`)],
    ['amount-reformatted', hex(`49${identifier}`)],
    ['separator', hex(`${amount}|${identifier}`)],
    ['whole-body', hex(sent)],
    ['whole-body', hex(JSON.stringify(rest)), json],
    ['undefined-amount', hex(`undefined${identifier}`)],
    ['undefined-amount', hex(identifier)],
    ['currency-included', hex(`${text}USD`)],
    ['currency-included', hex(`${amount}USD${identifier}`)],
    ['trx-instead-of-identifier', hex(amount + MADE.trx)],
    ['lower-case', hex(text).toLowerCase()],
    ['base64', hmac(text).toString('base64')],
    ['key-with-whitespace', hex(text, `${SECRET_KEY}\n`)],
    ['key-with-whitespace', hex(text, ` ${SECRET_KEY}`)],
    ['key-with-whitespace', hex(text, `${SECRET_KEY}\r`)],
    ['key-with-whitespace', hex(text, `\uFEFF${SECRET_KEY}`)],
    ['public-key', hex(text, PUBLIC_KEY)],
    ['other-merchant-key', hex(text, 'sec_sim_shop_2')],
    [null, hex('something else')],
  ])('%s is the mistake in %s', (mistake, signature, body = sent) => {
    const checkedBy = verify(body, KEYS, signature);
    expect(checkedBy).toMatchObject({
      mistake,
      fix: mistake && MISTAKE_FIXES[mistake],
      valid: signature === hex(text),
    });
    expect(checkedBy.reasons).toHaveLength(signature === hex(text) ? 0 : 1);
  });

  it.each([
    ['null', 'the amount was read as "null"'],
    ['', 'the amount was read as nothing'],
  ])('names the amount that was read: %j', (read, said) => {
    expect(verify(sent, KEYS, hex(read + identifier)).reasons).toEqual([expect.stringContaining(said)]);
  });
});

it('ignores white space around a signature, but not in one that is longer than any encoding', () => {
  const { body } = invent({ identifier: 'order-1', amount: '100.00' }, MADE, { format: 'form' });
  const signature = new URLSearchParams(body).get('signature') ?? '';
  expect(verify(body, KEYS, ` ${signature.toLowerCase()}`).mistake).toBe('lower-case');
  const { mistake, reasons } = verify(body, KEYS, ` ${signature}`);
  expect([mistake, reasons]).toEqual([null, [expect.stringContaining('white space around it: remove it')]]);
  expect(verify(body, KEYS, signature.padEnd(300)).reasons).not.toEqual(reasons);
});
