// A state of 700 MB, which is more than one text or one buffer of Node can be: written, killed, opened from its
// journal, stopped, opened from its db.json. Run with `npm run test:long`; it takes a few minutes and 2 GB of disk.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
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
  const began = performance.now();
  const store = await Store.open({ folder, fsync: false }, async () => records());
  const opened = performance.now();
  const { payments } = store.state;
  const found = payments.size;
  for (let number = found; number < count; number += 100) {
    const batch = Array.from({ length: 100 }, (_, index) => numbered(number + index));
    await Promise.all(batch.map((payment) => store.commit(() => ({ change: { payments: [payment] }, result: null }))));
  }
  const wrong = [0, 1, 499_999, count - 1].filter((number) => JSON.stringify(payments.get(numbered(number).id)) !== JSON.stringify(numbered(number)));
  if (end === 'stop') await store.close();
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  process.stdout.write(JSON.stringify({ found, held: payments.size, wrong, openMs: Math.round(opened - began), megabytes }));
  process.exit(0);
`;

const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-long-'));
const program = join(folder, 'program.mjs');

async function run(name, end, expected) {
  const child = spawn(process.execPath, [program, folder, String(COUNT), end], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  const report = code === 0 ? JSON.parse(output) : { code };
  const sizes = await Promise.all(
    ['db.json', 'journal.jsonl'].map(async (file) => (await stat(join(folder, file))).size),
  );
  const ok = code === 0 && report.found === expected && report.held === COUNT && !report.wrong.length;
  process.stdout.write(
    `${ok ? 'ok  ' : 'FAIL'} ${name}: ${JSON.stringify({ ...report, db: sizes[0], journal: sizes[1] })}\n`,
  );
  if (!ok) process.exitCode = 1;
  return sizes;
}

try {
  await build({
    stdin: { contents: PROGRAM, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['vitest'],
    outfile: program,
    logLevel: 'error',
  });
  const [, journal] = await run('written and left as by a kill', 'kill', 0);
  if (journal < LEAST_BYTES) throw new Error(`the journal has ${journal} bytes only`);
  const [db] = await run('opened from its journal, and stopped', 'stop', COUNT);
  if (db < LEAST_BYTES) throw new Error(`db.json has ${db} bytes only`);
  await run('opened from its db.json', 'kill', COUNT);
} finally {
  await rm(folder, { recursive: true, force: true });
}
