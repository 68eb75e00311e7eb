import { onTestFinished } from 'vitest';
import { startGatewaySim } from '../../src/index.ts';
import type { GatewaySim, StartGatewaySimOptions } from '../../src/library/api.ts';

/** An emulator by the library, as a user starts it, stopped when the test that asks is over. */
export async function startLibrary(options: StartGatewaySimOptions = {}): Promise<GatewaySim> {
  const sim = await startGatewaySim(options);
  onTestFinished(() => sim.stop());
  return sim;
}
