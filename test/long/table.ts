import type { Reporter, TestCase, TestModule, TestRunEndReason } from 'vitest/node';
import type { Failure, Tally } from './trial.ts';

/** The kinds of failure whose counts are always printed. */
const NEVER: readonly Failure[] = ['lost', '5xx', 'outside', 'hang', 'ended'];

interface Row extends Tally {
  name: string;
  state: string;
  seconds: number;
}

function row(test: TestCase): Row | undefined {
  const { tally } = test.meta();
  if (!tally) return;
  // An interrupted trial has no duration.
  const seconds = (test.diagnostic()?.duration || Date.now() - tally.began) / 1000;
  return { ...tally, name: test.name, state: test.result().state, seconds };
}

const counted = (number: number) => number.toLocaleString('en-US');

function printed(rows: readonly Row[]): string[] {
  const cells = rows.map(({ name, cases, requests, failures, seconds, state }) => [
    name,
    counted(cases),
    counted(requests),
    state === 'failed' && !failures.length ? 'failed' : counted(failures.length),
    seconds.toFixed(0),
  ]);
  const table = [['Trial', 'Cases', 'Requests', 'Failures', 'Seconds'], ...cells];
  return table.map((line) => `| ${line.join(' | ')} |`).toSpliced(1, 0, '|---|---:|---:|---:|---:|');
}

/** Prints the counts of the trials as a Markdown table. */
export default class Table implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], _: unknown, reason: TestRunEndReason): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const rows = tests.map(row).filter((found) => found !== undefined);
    const failures = rows.flatMap(({ name, failures }) => failures.map((failure) => ({ name, ...failure })));
    const sum = (count: (row: Row) => number) => counted(rows.reduce((total, row) => total + count(row), 0));
    const totals = `${sum(({ cases }) => cases)} cases, ${sum(({ requests }) => requests)} requests`;
    const never = NEVER.map(
      (kind) => `${kind} ${failures.filter((failure) => failure.kind === kind).length}`,
    );
    const lines = [
      ...printed(rows),
      '',
      `${totals}; ${never.join(', ')}, all failures ${failures.length}; seed ${process.env['TRIAL_SEED']}`,
      ...(reason === 'interrupted'
        ? ['Interrupted: the last trial is incomplete, and the following ones did not run.']
        : []),
      ...rows.flatMap(({ name, notes }) => notes.map((note) => `Note, ${name}: ${note}`)),
      ...failures.slice(0, 50).map(({ name, kind, text }) => `FAILED ${name} (${kind}): ${text}`),
    ];
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}
