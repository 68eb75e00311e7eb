import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../helpers/folder.ts';
import { bundled } from '../../helpers/program.ts';
import { trial } from '../trial.ts';

/** The records take 700 MB, more than one string in Node can contain. */
const COUNT = 1_000_000;
const LEAST_BYTES = 700e6;

const PROGRAM = `
  import { Store } from './src/store/store.ts';
  import { pendingPayment, records, state } from './test/helpers/records.ts';
  const [folder, count, end] = process.argv.slice(2);
  const template = pendingPayment(state());
  const numbered = (number) => {
    const digits = String(number).padStart(24, '0');
    return { ...template, id: 'pay_' + digits, identifier: 'order-' + digits.slice(10), details: 'Two paperbacks and a card for Zoë ' + digits };
  };
  const store = await Store.open({ folder, fsync: false }, async () => records());
  const { payments } = store.state;
  const found = payments.size;
  for (let number = found; number < count; number += 100) {
    const batch = Array.from({ length: 100 }, (_, index) => numbered(number + index));
    await Promise.all(batch.map((payment) => store.commit(() => ({ change: { payments: [payment] }, result: null }))));
  }
  const wrong = [0, 1, count >> 1, count - 1].filter((number) => JSON.stringify(payments.get(numbered(number).id)) !== JSON.stringify(numbered(number)));
  if (end === 'stop') await store.close();
  process.stdout.write(JSON.stringify({ found, held: payments.size, wrong }));
  process.exit(0);
`;

trial('a state larger than the longest string of Node', { short: 3, least: 3, share: 3 }, async (budget) => {
  const program = await bundled(PROGRAM);
  onTestFinished(program.remove);
  const folder = await temporaryFolder();
  const count = budget.short ? 3_000 : 100 * Math.ceil((COUNT * budget.part) / 100);
  const sizeOf = async (name: string) => (await stat(join(folder, name))).size;
  const run = async (name: string, end: 'kill' | 'stop', found: number) => {
    const child = spawn(process.execPath, [program.path, folder, String(count), end], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) budget.fail('ended', `${name}: it ended with ${code}`);
    else if (said !== JSON.stringify({ found, held: count, wrong: [] }))
      budget.fail('lost', `${name}: ${said}`);
    budget.cases();
  };
  await run('written, then killed', 'kill', 0);
  const journal = await sizeOf('journal.jsonl');
  await run('opened from its journal, then stopped', 'stop', count);
  const db = await sizeOf('db.json');
  await run('opened from its db.json', 'kill', count);
  if (!budget.short) {
    budget.note(`a journal of ${journal} bytes, a db.json of ${db}`);
    // In a shorter run, db.json is written again before the journal is as large.
    if (budget.part === 1 && Math.min(journal, db) < LEAST_BYTES)
      budget.fail('other', 'the files are too small for this test');
  }
});
