import { it } from 'vitest';
import { AUDIT_CASES, sample } from '../helpers/scope.ts';
import { falseAlarms } from '../merchants/handlers/false-alarms.ts';

/** The long run tries all handlers. */
const FOR_RELEASES = [
  ...['answers 200 to everything, with a page', 'Laravel with a queue', 'numbers its invoices'],
  ...[
    'slow, and rejects concurrent requests',
    'PHP behind a front controller',
    'answers 501 to other methods',
  ],
];

it.concurrent.for(sample(FOR_RELEASES, (name) => name === 'Laravel with a queue'))(
  'passes a correct handler: %s',
  async (name, { expect: check }) => {
    check(await falseAlarms(name, AUDIT_CASES)).toEqual([]);
  },
);
