import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../helpers/folder.ts';
import { bundled } from '../../helpers/program.ts';
import { trial } from '../trial.ts';

/** One string in Node cannot contain as much. The records take more, and so do the changes in the journal. */
const LEAST_BYTES = 700e6;
const COUNT = 1_000_000;

/**
 * Opens the folder, and checks which payments it has and which of them were changed. Then creates payments, or changes
 * them until the journal is large enough: db.json is larger then, so no snapshot empties the journal.
 */
const PROGRAM = `
  import { statSync } from 'node:fs';
  import { join } from 'node:path';
  import { Store } from './src/store/store.ts';
  import { pendingPayment, records, state } from './test/helpers/records.ts';
  const [folder, task, ...numbers] = process.argv.slice(2);
  const [count, known, changed, leastBytes] = numbers.map(Number);
  const template = pendingPayment(state());
  const numbered = (number, word) => {
    const digits = String(number).padStart(24, '0');
    return { ...template, id: 'pay_' + digits, identifier: 'order-' + digits.slice(10), details: word + ' paperbacks and a card for Zoë ' + digits };
  };
  const store = await Store.open({ folder, fsync: false }, async () => records());
  const { payments } = store.state;
  const found = payments.size;
  let wrong = 0;
  for (let number = 0; number < known; number++) {
    const expected = numbered(number, number < changed ? 'Three' : 'Two');
    if (JSON.stringify(payments.get(expected.id)) !== JSON.stringify(expected)) wrong++;
  }
  let written = 0;
  const isLarge = () => statSync(join(folder, 'journal.jsonl')).size >= leastBytes;
  while (task !== 'read' && written < count && !(task === 'change' && isLarge())) {
    const batch = Array.from({ length: 100 }, () => numbered(written++, task === 'change' ? 'Three' : 'Two'));
    await Promise.all(batch.map((payment) => store.commit(() => ({ change: { payments: [payment] }, result: null }))));
  }
  if (task !== 'change') await store.close();
  process.stdout.write(JSON.stringify({ found, wrong, written }));
  process.exit(0);
`;

trial('a state larger than the longest string of Node', { short: 3, least: 3, share: 3 }, async (budget) => {
  const program = await bundled(PROGRAM);
  onTestFinished(program.remove);
  const folder = await temporaryFolder();
  const count = budget.short ? 3_000 : 100 * Math.ceil((COUNT * budget.part) / 100);
  const leastBytes = budget.short ? 1e6 : LEAST_BYTES * budget.part;
  const sizeOf = async (name: string) => (await stat(join(folder, name))).size;
  const run = async (task: 'create' | 'change' | 'read', known: number, changed: number): Promise<number> => {
    const numbers = [count, known, changed, leastBytes].map(String);
    const child = spawn(process.execPath, [program.path, folder, task, ...numbers], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const [code] = await once(child, 'close');
    budget.cases();
    if (code !== 0) {
      budget.fail('ended', `${task}: it ended with ${code}`);
      return 0;
    }
    const { found, wrong, written } = JSON.parse(said);
    if (found !== known || wrong) budget.fail('lost', `${task}: ${said}`);
    return written;
  };
  await run('create', 0, 0);
  const db = await sizeOf('db.json');
  const changed = await run('change', count, 0);
  const journal = await sizeOf('journal.jsonl');
  await run('read', count, changed);
  budget.note(`a db.json of ${db} bytes, then a journal of ${journal}`);
  if (Math.min(journal, db) < leastBytes) budget.fail('other', 'the files are too small for this test');
});
