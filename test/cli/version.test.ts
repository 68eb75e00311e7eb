import { describe, expect, it } from 'vitest';
import { run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

describe('--version --verbose', () => {
  it.each([[['--version', '--verbose']], [['--verbose', '-V']]])(
    '%j prints the profile and its score',
    async (args) => {
      const cwd = await temporaryFolder({ 'gateway-sim.config.json': '{"profile":"observed"}' });
      const { code, stdout, stderr } = await run(args, { cwd });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(
        /^\d+\.\d+\.\d+\nProfile +observed {2}\(\d+ facts: \d+ documented, \d+ observed, \d+ chosen\)$/m,
      );
    },
  );

  it('applies --profile, and lists the choices that differ from the profile', async () => {
    const config = { choices: { settledVisit: 'page' }, amountFormat: 'sent' };
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': JSON.stringify(config) });
    for (const flag of [['--profile', 'server'], ['--profile=server']]) {
      const { stdout } = await run(['--version', ...flag, '--verbose'], { cwd });
      expect(stdout).toMatch(/^Profile +server, but settledVisit page, amountFormat sent {2}\(\d+ facts: /m);
    }
  });

  it('reports a mistake in the configuration', async () => {
    const cwd = await temporaryFolder();
    const { code, stderr } = await run(['--version', '--verbose'], {
      cwd,
      env: { GATEWAY_SIM_PROFILE: 'new' },
    });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('GATEWAY_SIM_PROFILE must be one of document, observed, server'),
    ]);
  });
});
