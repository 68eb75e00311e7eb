// Every trial of what the documentation promises, for half an hour, and what it came to as a table:
//   npm run test:long -- [--minutes <n>] [--seed <n>] [<part of a trial's file name> …]
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
});
const [minutes, seed] = [values.minutes, values.seed].map(Number);
if (!(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write('--minutes takes a number over 0, and --seed a whole number.\n');
  process.exit(2);
}
Object.assign(process.env, { TRIAL_MINUTES: String(minutes), TRIAL_SEED: String(seed) });
const vitest = await createVitest('test', {
  project: 'trials',
  watch: false,
  // One after the other: what is measured in one trial is not held up by another.
  fileParallelism: false,
  reporters: ['verbose', 'test/long/table.ts'],
});
// The trial under way ends what it has started; whoever has no patience asks twice.
process.once('SIGINT', () => {
  void vitest.cancelCurrentRun('keyboard-input');
});
await vitest.start(positionals);
await vitest.close();
