// Durable, validated initiate, against the bare server and against itself with 100,000 payments stored.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { initiateRequest, load } from './load.mjs';
import { bytesInUse, inFolder, processorMs, timed, withBare, withSim } from './processes.mjs';
import { atLeast, atMost, fact, median, perSecond } from './rows.mjs';

const ROUNDS = 5;
const WARM_UP = 4_000;
const COUNT = 15_000;
const MANY = 100_000;
const KINDS = ['urlencoded', 'multipart'];

/** One round on a server that is warm: requests per second, p99, and the server's processor time per request. */
async function round(server, kind) {
  const { port, publicKey = 'pub_sim_example_not_a_real_key' } = server;
  const request = initiateRequest({ port, publicKey, kind });
  await load({ port, request, count: WARM_UP });
  const before = processorMs(server);
  const measured = await load({ port, request, count: COUNT, first: WARM_UP });
  return { ...measured, processorUs: ((processorMs(server) - before) / COUNT) * 1_000 };
}

export async function throughput() {
  const rounds = [];
  for (let number = 0; number < ROUNDS; number++) {
    const bare = await withBare((server) => round(server, 'urlencoded'));
    const measured = { bare };
    for (const kind of KINDS)
      measured[kind] = await inFolder((folder) => withSim(folder, (sim) => round(sim, kind)));
    rounds.push(measured);
  }
  const rate = (name) => median(rounds.map((measured) => measured[name].rate));
  const ratio = (name) => median(rounds.map((measured) => measured[name].rate / measured.bare.rate));
  const processor = ['bare', ...KINDS].map(
    (name) => `${name} ${median(rounds.map((measured) => measured[name].processorUs)).toFixed(0)} us`,
  );
  return [
    fact('bare node:http', perSecond(rate('bare'))),
    atLeast('initiate urlencoded, of bare', ratio('urlencoded'), 0.75, '', perSecond(rate('urlencoded'))),
    atLeast('initiate multipart, of bare', ratio('multipart'), 0.4, '', perSecond(rate('multipart'))),
    fact('processor time per request', processor.join(', ')),
  ];
}

export function withManyPayments() {
  return inFolder(async (folder) => {
    const memory = {};
    const rounds = [];
    await withSim(
      folder,
      async (full) => {
        memory.empty = await bytesInUse(folder, full);
        const request = initiateRequest({ ...full, kind: 'urlencoded' });
        await load({ port: full.port, request, count: MANY });
        memory.full = await bytesInUse(folder, full);
        for (let number = 0; number < ROUNDS; number++) {
          const empty = await inFolder((other) => withSim(other, (sim) => round(sim, 'urlencoded')));
          rounds.push({ empty, full: await round(full, 'urlencoded') });
        }
      },
      { probe: true },
    );
    const p99 = (name) => median(rounds.map((measured) => measured[name].p99));
    return [
      atLeast(
        'rate with 100,000 payments, of empty',
        median(rounds.map(({ full, empty }) => full.rate / empty.rate)),
        0.9,
      ),
      atMost(
        'p99 with 100,000 payments, of empty',
        p99('full') / p99('empty'),
        2,
        'x',
        `${p99('full').toFixed(1)} ms, ${p99('empty').toFixed(1)} ms`,
      ),
      atMost('memory per stored payment', (memory.full - memory.empty) / MANY / 1024, 3, ' KB'),
      await reload(folder),
    ];
  });
}

/** From spawn to ready with the payments, less the same without, against parsing the same files. */
async function reload(folder) {
  const files = ['db.json', 'journal.jsonl'].map((name) => join(folder, 'state', name));
  const sizes = await Promise.all(files.map(async (file) => (await readFile(file)).length));
  const script = `const fs=require('fs');JSON.parse(fs.readFileSync(${JSON.stringify(files[0])},'utf8'));for(const line of fs.readFileSync(${JSON.stringify(files[1])},'utf8').split('\\n'))if(line)JSON.parse(line)`;
  const times = [];
  for (let number = 0; number < 3; number++) {
    const full = await withSim(folder, ({ readyMs }) => readyMs);
    const empty = await inFolder((other) => withSim(other, ({ readyMs }) => readyMs));
    const parse = await timed(process.execPath, ['-e', script]);
    const nothing = await timed(process.execPath, ['-e', '0']);
    times.push({ reload: full - empty, parse: parse - nothing });
  }
  const ms = (name) => median(times.map((time) => time[name]));
  return atMost(
    'reload, of JSON.parse of the same files',
    ms('reload') / ms('parse'),
    3,
    'x',
    `${ms('reload').toFixed(0)} ms, ${ms('parse').toFixed(0)} ms for ${(sizes[0] + sizes[1]) >> 20} MiB`,
  );
}
