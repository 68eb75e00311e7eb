import { expect, it } from 'vitest';
import { sample } from '../helpers/scope.ts';
import { convictions } from '../merchants/handlers/convictions.ts';
import { HANDLERS } from '../merchants/handlers/list.ts';

/** The others are in the long run. */
const FOR_RELEASES = [
  ...['answers 200 to everything, with a page', 'Laravel with a queue', 'numbers its invoices'],
  ...['slow, and turns away who comes second', 'PHP behind a front controller', 'knows no other method'],
];

it.concurrent.for(sample(FOR_RELEASES, (name) => name === 'Laravel with a queue'))(
  'convicts no correct handler: %s',
  async (name, { expect: check }) => {
    check(await convictions(name)).toEqual([]);
  },
);

it('has fifty of them', () => {
  expect(Object.keys(HANDLERS).length).toBeGreaterThanOrEqual(50);
});
