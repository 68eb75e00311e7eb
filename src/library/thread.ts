import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../contract/error.ts';
import { startHere, type ThreadReport } from './start.ts';

/*
 * The thread of an emulator. It ends when the emulator is stopped.
 */

async function run(): Promise<ThreadReport> {
  try {
    const server = await startHere(workerData);
    parentPort?.once('message', () => void server.stop());
    void server.stopped.then(() => parentPort?.close());
    const { url, port, publicKey, secretKey, dataDir, controlToken, tlsCa, notices } = server;
    return { started: { url, port, publicKey, secretKey, dataDir, controlToken, tlsCa, notices } };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, problems, problemCount, hint } = error;
    return { failure: { code, message, problems, problemCount, ...(hint && { hint }) } };
  }
}

void run().then((report) => parentPort?.postMessage(report));
