import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { composer, encodeIpn, invent, ipnFields } from '../../src/service/ipn.ts';
import { sign } from '../../src/service/signature.ts';
import { character } from '../helpers/characters.ts';
import {
  NOW,
  pendingPayment,
  SECRET_KEY,
  type SettingsChanges,
  settings,
  state,
} from '../helpers/records.ts';

interface Vector {
  note: string;
  amount: string;
  identifier: string;
  secretKey: string;
  signature: string;
}

/*
 * A signature computed without our code (documented: upper-case hexadecimal HMAC-SHA256 over the amount directly
 * followed by the identifier, keyed with the secret key). For amount 49.9 and identifier order-1:
 *
 *   $ printf '%s' '49.9order-1' | openssl dgst -sha256 -hmac sec_sim_9876543210
 *   SHA2-256(stdin)= 927c14a3c487c1431cddb586a5a9a7c68347d2cd153c7db8b0c77f8c3dbdea2f
 *
 * converted to upper case. fixtures/signatures.json was computed with Python's hmac module
 * (`hmac.new(key.encode(), (amount + identifier).encode(), 'sha256')`), and two of its entries also with openssl.
 */
const BY_HAND = '927C14A3C487C1431CDDB586A5A9A7C68347D2CD153C7DB8B0C77F8C3DBDEA2F';
const vectors = JSON.parse(
  await readFile(new URL('../../fixtures/signatures.json', import.meta.url), 'utf8'),
) as Vector[];

/** Reads a form as PHP reads it into `$_POST`: `data[currency][code]=USD` becomes nested. */
function phpPost(body: string): Record<string, unknown> {
  const post: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '');
    let level = post;
    for (const part of path.slice(0, -1)) {
      level[part] ??= {};
      level = level[part] as Record<string, unknown>;
    }
    level[path.at(-1) ?? ''] = value;
  }
  return post;
}

function payment(changes: Parameters<typeof pendingPayment>[1] = {}) {
  return pendingPayment(state(), changes);
}

function ipnOf(changes: Parameters<typeof pendingPayment>[1] = {}, set: SettingsChanges = {}) {
  return ipnFields(
    { payment: payment(changes), status: 'success', holder: 'Ada Lovelace', secretKey: SECRET_KEY },
    settings(set),
  );
}

describe('the signature', () => {
  it('matches one computed without our code', () => {
    expect(sign('49.9', 'order-1', SECRET_KEY)).toBe(BY_HAND);
  });

  it.each(vectors)(
    'of $amount + $identifier is the known answer: $note',
    ({ amount, identifier, secretKey, signature }) => {
      expect(sign(amount, identifier, secretKey)).toBe(signature);
    },
  );
});

describe('the body of an IPN', () => {
  it('as a form is read by PHP as nested fields', () => {
    const fields = ipnOf({ amount: '49.9' });
    const { contentType, body } = encodeIpn(fields, 'form');
    expect(contentType).toBe('application/x-www-form-urlencoded');
    expect(phpPost(body)).toEqual(fields);
  });

  it('in either format gives a receiver the signed text', () => {
    const anyText = fc.string({ unit: character, minLength: 1, maxLength: 20 });
    const anyAmount = fc
      .tuple(fc.nat(), fc.nat({ max: 99_999_999 }))
      .map(([whole, part]) => `${whole}.${part}`);
    fc.assert(
      fc.property(
        anyText,
        anyAmount,
        fc.constantFrom('form' as const, 'json' as const),
        (identifier, amount, format) => {
          const { body } = encodeIpn(ipnOf({ identifier, amount }), format);
          const post = (format === 'form' ? phpPost(body) : JSON.parse(body)) as ReturnType<typeof ipnOf>;
          expect(post.identifier).toBe(identifier);
          expect(post.signature).toBe(sign(post.data.amount, post.identifier, SECRET_KEY));
        },
      ),
    );
  });
});

type Composition = Parameters<typeof invent>[2];

function made(composition: Omit<Composition, 'format'>, format: Composition['format'] = 'form') {
  const chosen = { identifier: 'order-1', amount: '7.50' };
  return invent(chosen, { trx: 'TRX', now: NOW, secretKey: SECRET_KEY }, { format, ...composition });
}

const sent = (composition: Omit<Composition, 'format'>) => new URLSearchParams(made(composition).body);

describe('an omitted field', () => {
  it.each([
    ['data.charge', '7.50order-1'],
    ['status', '7.50order-1'],
    ['identifier', '7.50'],
    ['data.amount', 'order-1'],
    ['data', 'order-1'],
  ])('%s is absent, and the other fields are signed', (unset, signedText) => {
    const ipn = made({ unset });
    const fields = new URLSearchParams(ipn.body);
    const [first = '', second] = unset.split('.');
    const name = second === undefined ? first : `${first}[${second}]`;
    expect([...fields.keys()].filter((key) => key === name || key.startsWith(`${name}[`))).toEqual([]);
    expect(fields.get('signature')).toBe(sign(signedText, '', SECRET_KEY));
    expect(ipn.signedText).toBe(signedText);
  });

  it('can be one of several, including the signature', () => {
    const names = [...sent({ unset: ['signature', 'data'] }).keys()];
    expect(names).toEqual(['status', 'identifier']);
  });

  it('can be set again, even by its name in a form', () => {
    const fields = sent({ unset: ['data'], set: { 'data[amount]': '1.00', 'data[note][]': ['a', 'b'] } });
    expect([...fields.keys()].filter((name) => name.startsWith('data'))).toEqual([
      'data[amount]',
      'data[note][]',
      'data[note][]',
    ]);
    expect(fields.get('signature')).toBe(sign('1.00', 'order-1', SECRET_KEY));
  });

  it('cannot be tampered with', () => {
    expect(() => made({ unset: ['data'], tamper: requireTamperings('amount') })).toThrow(
      'tamper amount: the field was removed with unset',
    );
    expect(made({ unset: ['identifier', 'status'] })).toMatchObject({
      identifier: 'order-1',
      status: 'success',
    });
  });

  it.each(['nope', 'data.nope', 'status.x', '__proto__', 'toString'])(
    '%s is rejected, because it does not exist',
    (unset) => {
      expect(() => made({ unset })).toThrow(/^unset: unknown field .*; known: /);
    },
  );
});

describe('a list', () => {
  it('replaces the signed value, in a form and in JSON', () => {
    const set = { 'signature[]': ['a', 'b'], 'data.amount[]': '1' };
    const fields = sent({ set });
    expect(fields.getAll('signature[]')).toEqual(['a', 'b']);
    expect(fields.getAll('data[amount][]')).toEqual(['1']);
    expect([fields.has('signature'), fields.has('data[amount]')]).toEqual([false, false]);
    const { body, signedText } = made({ set }, 'json');
    expect(JSON.parse(body)).toMatchObject({ signature: ['a', 'b'], data: { amount: ['1'] } });
    expect(signedText).toBe('7.50order-1');
  });

  it('is rejected for a name without []', () => {
    expect(() => made({ set: { status: ['a'] } })).toThrow('set status: use the name status[] for a list');
  });
});

it.each([
  [
    'status=success&signature=0AB&identifier=signature=1',
    'status=success&signature=1AB&identifier=signature=1',
  ],
  ['signature=FAB', 'signature=0AB'],
  ['{"status":"success","signature":"FAB"}', '{"status":"success","signature":"0AB"}'],
  ['status=success', 'status=success'],
])('a fault corrupts the signature of %s', (body, expected) => {
  expect(composer.corruptSignature(body)).toBe(expected);
});
