import { expect, it } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { PROFILES } from '../../src/contract/profiles.ts';
import { readInitiate } from '../../src/wire/documented/initiate.ts';
import { fields } from '../helpers/records.ts';

it('reports the amount in its place in the order if a number cannot be read exactly', () => {
  const posted = { fields: fields({ currency: '', amount: 1e-9, details: '' }), text: '' };
  const read = () => readInitiate(posted, PROFILES.document.choices);
  expect(read).toThrow(GatewayError);
  expect(read).toThrowError(
    expect.objectContaining({
      problems: [
        'currency is required',
        'amount cannot be read exactly from this JSON number: send a string, such as "49.90"',
        'details is required',
      ],
    }),
  );
});
