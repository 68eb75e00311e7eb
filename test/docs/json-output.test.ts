import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { launch, run, start, startIn } from '../helpers/cli.ts';
import { linesNamed } from '../helpers/conform.ts';
import { Contract, type Document } from '../helpers/contract.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { page } from './pages.ts';

/** What the page says about each command: the cell next to its name. */
const CELLS = Object.fromEntries(
  [...page('reference/json.md').matchAll(/^\| \[([a-z ]+)\]\(commands\.md#[\w-]+\) \| (.+) \|$/gm)].map(
    ([, name = '', cell = '']) => [name, cell],
  ),
);

/**
 * Commands whose output has its own tests, or is not ours: a browser opens, a child process writes, or lines follow.
 */
const ELSEWHERE = ['exec', 'open', 'start', 'ipn listen', 'logs'];

test('every command prints what the page shows', async () => {
  const cwd = await temporaryFolder();
  const receiver = await startReceiver();
  const { control } = await startIn(cwd);
  const contract = new Contract(await control<Document>('/openapi.json'));
  const seen = new Set(ELSEWHERE);

  /** Runs a command and compares its output with the page. */
  async function ask(name: string, ...args: string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await run([...name.split(' '), ...args, '--json'], { cwd });
    // There is no shop, so the audit proves nothing. The receiver accepts everything, so there is nothing to diagnose.
    const expected = { audit: 2, 'ipn diagnose': 1 }[name] ?? 0;
    expect([name, code, stderr]).toEqual([name, expected, expect.any(String)]);
    const body = JSON.parse(stdout) as Record<string, unknown>;
    const [documented = ''] = (CELLS[name] ?? '').split(/; (?:with|if) /);
    const [, record] = /^\[(\w+)\]\(#\w+\)$/.exec(documented) ?? [];
    if (record) {
      expect([name, contract.problems(body, 'components', 'schemas', record)]).toEqual([name, []]);
    } else if (name !== 'openapi') {
      const fields = [...documented.replace(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, field]) => field);
      expect([name, Object.keys(body).sort()]).toEqual([name, fields.sort()]);
    }
    seen.add(name);
    return body;
  }

  await ask('wait');
  await ask('status');
  await ask('payments create', '--identifier', 'order-1', '--ipn-url', `${receiver.url}/ipn`);
  await ask('payments list');
  await ask('payments show', 'order-1');
  await ask('pay', 'order-1', '--approve');
  const { data } = (await ask('ipn list')) as { data: { id: string; body: string }[] };
  const [delivery = { id: '', body: '' }] = data;
  await ask('ipn show', delivery.id);
  await ask('ipn resend', delivery.id);
  await ask('ipn diagnose', delivery.id);
  await ask('ipn fire', '--payment', 'order-1');
  await ask('ipn verify', delivery.body);
  await ask('reconcile', '--probe-cmd', 'echo {identifier}', '--paid-when', '/^order-1$/m');
  await ask('audit', `${receiver.url}/ipn`, '--only', 'control');
  for (const name of ['keys show', 'keys env', 'keys generate', 'inbox', 'clock show']) await ask(name);
  await ask('clock advance', '1s');
  await ask('clock freeze');
  await ask('clock resume');
  await ask('faults set', 'initiate', '--status', '503');
  await ask('faults list');
  await ask('faults clear');
  const { data: wallets } = (await ask('wallets list')) as { data: { id: string }[] };
  await ask('wallets fund', wallets[0]?.id ?? '', '--amount', '5');
  const { id } = (await ask('cards create')) as { id: string };
  await ask('cards list');
  await ask('cards show', id);
  await ask('cards charge', id, '--amount', '5');
  await ask('cards fund', id, '--amount', '5');
  for (const name of ['cards block', 'cards activate', 'cards cancel']) await ask(name, id);
  await ask('reconcile', '--probe-cmd', 'echo {identifier} paid', '--paid-when', 'paid');
  await ask('state export', 'state.json');
  await ask('state import', 'state.json', '--yes');
  await ask('state reset', '--yes');
  const few = linesNamed('initiate-success-is-ok').map((line) => JSON.stringify(line));
  await writeFile(join(cwd, 'few.jsonl'), few.join('\n'));
  await ask('conform', '--manifest', 'few.jsonl');
  await ask('init', '--dir', join(cwd, 'project'));
  await ask('docs');
  await ask('openapi');
  await ask('stop');
  expect(Object.keys(CELLS).filter((name) => !seen.has(name))).toEqual([]);
});

test('commands that keep running print the lines that the page shows', async () => {
  const cwd = await temporaryFolder();
  const listen = launch(['ipn', 'listen', '--port', '0', '--secret', 'sec_1', '--json'], { cwd });
  await listen.until((stdout) => stdout.includes('\n'));
  const { url, ...ready } = JSON.parse(listen.stdout());
  await fetch(url, { method: 'POST', body: new URLSearchParams({ status: 'success' }) });
  await listen.until((stdout) => stdout.split('\n').length > 2);
  const seen = JSON.parse(listen.stdout().split('\n')[1] ?? '');
  for (const field of ['url', ...Object.keys(ready), ...Object.keys(seen)]) {
    expect(CELLS['ipn listen']).toContain(`\`${field}\``);
  }

  const { ready: started, ...emulator } = await start([], { cwd });
  for (const field of Object.keys(started)) expect(CELLS['start']).toContain(`\`${field}\``);
  await run(['payments', 'create'], { cwd });
  await emulator.until((stdout) => stdout.split('\n').length > 3);
  const document = (await (await fetch(`${started.url}/_sim/openapi.json`)).json()) as Document;
  const contract = new Contract(document);
  const { stdout: logs } = await run(['logs', '--json'], { cwd });
  const events = [...emulator.stdout().trim().split('\n').slice(1), ...logs.trim().split('\n')];
  for (const line of events) {
    expect(contract.problems(JSON.parse(line), 'components', 'schemas', 'SimEvent')).toEqual([]);
  }
});
