import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditedCase } from '../../src/audit/report.ts';
import type { AuditVerdict } from '../../src/audit/vocabulary.ts';
import { InterruptedAudit } from '../../src/cli/interrupted-audit.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const ASKED = { ipnUrl: 'http://user:hidden@localhost:3000/ipn' };

const audited = (name: string, verdict: AuditVerdict): AuditedCase => ({
  name,
  verdict,
  group: 'sender',
  class: 'A',
  about: 'An IPN.',
  why: 'rejected',
  sent: null,
  observed: null,
  mistake: null,
  cost: null,
  fix: null,
  instruction: null,
  code: null,
  unpaid: null,
  curl: null,
  seen: null,
});

async function interrupted(...finished: readonly AuditedCase[]) {
  const cwd = await temporaryFolder();
  const kept = new InterruptedAudit(cwd, ASKED);
  kept.finished.push(...finished);
  return { cwd, file: join(cwd, InterruptedAudit.file), isKept: await kept.keep() };
}

describe('an interrupted audit', () => {
  it('keeps the decided cases, and tries the others again', async () => {
    const { cwd } = await interrupted(audited('splice', 'pass'), audited('answer', 'unproven'));
    const resumed = await new InterruptedAudit(cwd, ASKED).resume();
    expect(resumed.map(({ name }) => name)).toEqual(['splice']);
  });

  it('without a decided case leaves nothing to continue', async () => {
    const { cwd, isKept } = await interrupted(audited('answer', 'skipped'));
    expect(isKept).toBe(false);
    await expect(new InterruptedAudit(cwd, ASKED).resume()).rejects.toThrow('left nothing to continue');
  });

  it('stores no password of an address', async () => {
    const { file } = await interrupted(audited('splice', 'pass'));
    expect(await readFile(file, 'utf8')).not.toContain('hidden');
  });

  it('is not continued, nor removed, by an audit with other options', async () => {
    const { cwd, file } = await interrupted(audited('splice', 'pass'));
    const other = new InterruptedAudit(cwd, { ...ASKED, paidWhen: '.status=paid' });
    await expect(other.resume()).rejects.toThrow('was of another shop, or had other options');
    await other.forget();
    expect(await readFile(file, 'utf8')).toContain('splice');
  });

  it.each([
    ['half of it', '{"target":"x","fini'],
    ['no object', '[]'],
    ['a list without cases', '{"target":"x","finished":[null]}'],
    ['no list', '{"target":"x","finished":"abc"}'],
    ['an incomplete case', '{"target":"x","finished":[{"name":"splice","verdict":"pass"}]}'],
  ])('whose file has %s is named as damaged', async (_, text) => {
    const { cwd, file } = await interrupted(audited('splice', 'pass'));
    await writeFile(file, text);
    await expect(new InterruptedAudit(cwd, ASKED).resume()).rejects.toThrow(
      `${InterruptedAudit.file} cannot be used: it is damaged. Run audit without --resume`,
    );
  });

  it('whose file is a folder is not continued, and the next one keeps its result', async () => {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, InterruptedAudit.file));
    await expect(new InterruptedAudit(cwd, ASKED).resume()).rejects.toThrow('cannot be used');
    await expect(new InterruptedAudit(cwd, ASKED).forget()).resolves.toBeUndefined();
  });
});
