import { expect, test } from 'vitest';
import '../../src/audit/report.ts';
import '../../src/contract/diagnosis.ts';
import { componentSchemas } from '../../src/contract/json-schema.ts';
import { run, startIn } from '../helpers/cli.ts';
import { Contract, type Document } from '../helpers/contract.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';

test('audit, diagnose and reconcile print the fields that the commands page lists', async () => {
  const cwd = await temporaryFolder();
  const receiver = await startReceiver();
  await startIn(cwd);
  const contract = new Contract({ components: { schemas: componentSchemas() } } as unknown as Document);
  await run(['payments', 'create', '--identifier', 'order-1', '--ipn-url', `${receiver.url}/ipn`], { cwd });
  await run(['pay', 'order-1', '--approve'], { cwd });

  /** Prints a record whose fields `npm run docs` writes on the page. */
  async function ask(record: string, ...args: string[]) {
    const { stdout } = await run([...args, '--json'], { cwd });
    expect([record, contract.problems(JSON.parse(stdout), 'components', 'schemas', record)]).toEqual([
      record,
      [],
    ]);
    return stdout;
  }

  await ask('Diagnosis', 'ipn', 'diagnose', 'order-1');
  await ask('AuditReport', 'audit', `${receiver.url}/ipn`, '--only', 'control');
  const probe = ['--probe-cmd', 'echo {identifier}', '--paid-when', '/^none$/m'];
  expect(await ask('Reconciliation', 'reconcile', ...probe)).toContain('paid-not-fulfilled');
});
