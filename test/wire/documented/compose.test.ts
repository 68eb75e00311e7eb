import { describe, expect, it } from 'vitest';
import { requireTamperings } from '../../../src/contract/tampering.ts';
import { invent } from '../../../src/wire/documented/ipn.ts';
import { sign } from '../../../src/wire/documented/signature.ts';
import { NOW, SECRET_KEY } from '../../helpers/records.ts';

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
