import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../contract/error.ts';
import { resolveOptions } from '../options/resolve.ts';
import { EMULATOR_OPTIONS } from '../options/start-options.ts';
import { startServer } from '../server.ts';
import { STYLE, type ThreadReport } from './start.ts';

/*
 * The thread of an emulator. It ends when the emulator is stopped.
 */

async function run(): Promise<ThreadReport> {
  try {
    const options = resolveOptions([{ label: (name) => name, values: workerData }], EMULATOR_OPTIONS);
    const server = await startServer(options, {
      style: STYLE,
      warn: (text) => process.emitWarning(text),
      report: (error) => process.emitWarning(error instanceof Error ? error : String(error)),
    });
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
