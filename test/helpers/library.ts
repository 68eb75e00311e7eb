import { onTestFinished } from 'vitest';
import { connectGatewaySim, startGatewaySim } from '../../src/index.ts';
import type { GatewaySim, GatewaySimClient, StartGatewaySimOptions } from '../../src/library/api.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { startSim } from './sim.ts';

/** Starts an emulator with the library, in a thread of its own, and stops it at the end of the test. */
export async function startLibrary(options: StartGatewaySimOptions = {}): Promise<GatewaySim> {
  const sim = await startGatewaySim(options);
  onTestFinished(() => sim.stop());
  return sim;
}

/** A client of an emulator in this thread, which starts with a tenth of the processor time. */
export async function startClient(options: StartOptions = {}): Promise<GatewaySimClient> {
  const { url } = await startSim(options);
  return connectGatewaySim(url);
}
