import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PLAIN } from '../../../../src/contract/error.ts';
import { FaultRule } from '../../../../src/contract/fault.ts';
import { commandFor, FAULT_PRESETS } from '../../../../src/http/pages/dashboard/faults.tsx';

describe.each(Object.values(FAULT_PRESETS))('the preset $label', ({ label, does, rule }) => {
  it('is a valid rule', () => {
    expect(FaultRule.safeParse(rule).success).toBe(true);
  });

  it('is documented with its command', async () => {
    const text = await readFile(new URL('../../../../src/docs/faults.md', import.meta.url), 'utf8');
    const run = PLAIN.command(commandFor(rule)).replace('gateway-sim ', '');
    expect(text).toContain(`| ${label} | \`${run}\` | ${does} |`);
  });
});
