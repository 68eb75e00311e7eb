import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SimEvent } from '../../src/contract/event.ts';
import { leftByKill, run, runJson, startHere, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';

/** Every file of a data folder with its content. */
async function filesOf(cwd: string): Promise<Record<string, string>> {
  const folder = join(cwd, '.gateway-sim');
  const names = (await readdir(folder)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
}

const linesOf = (stdout: string) => stdout.trimEnd().split('\n').filter(Boolean);

/** The parts of events that are also in a stored state. */
function comparable(events: readonly SimEvent[]) {
  return events.flatMap((event) => {
    if (event.type === 'payment') return event.steps.map(({ event: name, value }) => [name, value]);
    if (event.type === 'delivery' && event.step === 'attempted')
      return [[event.delivery.state, event.delivery.attempts.length, event.delivery.note]];
    return event.type === 'cardTransaction' ? [[event.cardTransaction.id]] : [];
  });
}

/** An emulator with a paid order, a canceled one, a used card, and an IPN that is accepted at the second attempt. */
async function busy(cwd: string) {
  const receiver = await startReceiver([{ status: 500, body: 'no' }, {}]);
  const { url, server } = await startIn(cwd, { ipnSchedule: ['10s'] });
  const create = (identifier: string) =>
    run(['payments', 'create', '--identifier', identifier, '--ipn-url', receiver.url], { cwd });
  await create('order-1');
  await run(['pay', 'order-1', '--approve'], { cwd });
  await run(['clock', 'advance', '1m'], { cwd });
  await create('order-2');
  await run(['pay', 'order-2', '--cancel'], { cwd });
  const { body: card } = await runJson<{ id: string }>(['cards', 'create'], { cwd });
  await run(['cards', 'charge', card.id, '--amount', '5'], { cwd });
  const events = linesOf((await run(['logs', '--json'], { cwd })).stdout).map((line) => JSON.parse(line));
  return { url, server, events, exported: (await run(['state', 'export', '-'], { cwd })).stdout };
}

describe.each(['stopped', 'killed'])('a folder whose emulator was %s', (how) => {
  it('can be exported, has a log, and stays unchanged', async () => {
    const running = await temporaryFolder();
    const { server, events, exported } = await busy(running);
    const cwd = how === 'killed' ? await leftByKill(running) : running;
    if (how === 'stopped') await server.stop();
    const before = await filesOf(cwd);
    const named = ['--data-dir', '.gateway-sim'];
    expect((await run(['state', 'export', '-', ...named], { cwd })).stdout).toBe(exported);
    const written = await run(['state', 'export', 'saved.json', ...named], { cwd });
    expect(written.stdout).toContain(
      'Wrote saved.json from .gateway-sim (no emulator is running): 2 payments',
    );
    const logs = await run(['logs', '--json', ...named], { cwd });
    expect([logs.code, logs.stderr]).toEqual([0, expect.stringContaining('without requests')]);
    const rebuilt = linesOf(logs.stdout).map((line) => SimEvent.parse(JSON.parse(line)));
    expect(rebuilt.map(({ seq }) => seq)).toEqual(rebuilt.map((_, index) => index + 1));
    expect(comparable(rebuilt)).toEqual(comparable(events));
    const text = (await run(['logs', ...named], { cwd })).stdout;
    expect(text).toMatch(/payment order-1 .*succeeded[\s\S]*IPN POST .* 500 .*attempt 1[\s\S]*attempt 2/);
    expect(await filesOf(cwd)).toEqual(before);
  });
});

it('the log of a stopped folder cannot be followed, and a folder without a state has no log', async () => {
  const cwd = await temporaryFolder();
  for (const args of [['logs'], ['state', 'export', '-']])
    expect((await run([...args, '--data-dir', '.gateway-sim'], { cwd })).code).toBe(3);
  const { server } = await startIn(cwd);
  await server.stop();
  expect((await run(['logs', '--follow', '--data-dir', '.gateway-sim'], { cwd })).code).toBe(3);
});

it('a damaged state is reported and stays unchanged', async () => {
  const { cwd, server } = await startHere();
  await server.stop();
  await writeFile(join(cwd, '.gateway-sim', 'db.json'), '{"version":');
  const { code, stderr } = await run(['logs', '--data-dir', '.gateway-sim'], { cwd });
  expect([code, stderr]).toEqual([6, expect.stringContaining('db.json')]);
});
