import { onTestFinished } from 'vitest';
import { startGatewaySim } from '../../src/index.ts';
import type { GatewaySim, StartGatewaySimOptions } from '../../src/library/api.ts';

/** An emulator that the library starts, as a user would, and that is stopped at the end of the test. */
export async function startLibrary(options: StartGatewaySimOptions = {}): Promise<GatewaySim> {
  const sim = await startGatewaySim(options);
  onTestFinished(() => sim.stop());
  return sim;
}
