import { onTestFinished } from 'vitest';
import { startGatewaySim } from '../../src/index.ts';
import type { GatewaySim, StartGatewaySimOptions } from '../../src/library/api.ts';

/** Starts an emulator with the library, and stops it at the end of the test. */
export async function startLibrary(options: StartGatewaySimOptions = {}): Promise<GatewaySim> {
  const sim = await startGatewaySim(options);
  onTestFinished(() => sim.stop());
  return sim;
}
