import { expect, test } from 'vitest';
import { PROFILES } from '../../src/contract/profiles.ts';
import { namesOf } from '../../src/contract/vocabulary.ts';
import { resolveOptions } from '../../src/options/resolve.ts';
import { fidelityIn } from '../../src/system/fidelity.ts';

const changesWith = (values: Record<string, unknown>) =>
  fidelityIn(resolveOptions([{ label: (name) => name, values }])).changes;

test.each(namesOf(PROFILES))(
  'an unmodified profile %s has no changes, whatever the option defaults',
  (profile) => {
    expect(changesWith({ profile })).toEqual([]);
  },
);

test.each([
  [{ amountFormat: 'stored' }, 'amountFormat stored'],
  [{ errorStatus: 'http' }, 'errorStatus http'],
  [{ loose: true, profile: 'server' }, 'valueLengths free'],
])('%j differs from the profile', (values, change) => {
  expect(changesWith(values)).toEqual([change]);
});
