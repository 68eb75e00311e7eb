import { ARTIFACTS } from '../audit/artifacts.ts';
import { withoutUndefined } from '../contract/defaults.ts';
import { GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import { resolveOptions } from '../options/resolve.ts';
import { EMULATOR_OPTIONS } from '../options/table.ts';
import { startServer } from '../server.ts';
import type { GatewaySim, IpnReceiver, StartGatewaySimOptions } from './api.ts';
import { requireObject } from './arguments.ts';
import { clientOf } from './connect.ts';
import { type ControlServer, controlServer } from './control-client.ts';
import { inOptionNames, STYLE } from './option-names.ts';

/**
 * Runs an emulator in this process. Resolves when it is ready.
 *
 * @throws GatewayError `usage`, `port_in_use`, `folder_in_use`, `storage_failed` or `state_damaged`
 */
export async function start(options: StartGatewaySimOptions): Promise<GatewaySim> {
  requireObject('the options', options);
  // Undefined and null count as omitted.
  const chosen = withoutUndefined(options);
  const values = { port: 0, inMemory: chosen.dataDir === undefined, ...chosen };
  const resolved = resolveOptions([{ label: (name) => name, values }], EMULATOR_OPTIONS);
  const server = await startServer(resolved, {
    sharesProcess: true,
    style: STYLE,
    warn: (text) => process.emitWarning(text),
    report: (error) => process.emitWarning(error instanceof Error ? error : String(error)),
  }).catch((error: unknown) => {
    throw inOptionNames(error);
  });
  const { url, port, dataDir, controlToken, tlsCa, notices, stop } = server;
  let isStopped = false;
  void server.stopped.then(() => {
    isStopped = true;
  });
  const control = controlServer(server);
  const call: ControlServer['call'] = (...request) =>
    control.call(...request).catch((error: unknown) => {
      throw isStopped ? stoppedError(url, error) : inOptionNames(error);
    });
  const client = clientOf({ ...control, call }, controlToken, server, process.env[ARTIFACTS]);
  const receivers: IpnReceiver[] = [];
  const { listen } = client;
  const stopAll = async () => {
    await stop();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  };
  // Extends the client itself: a copy would lose the getters of the current keys.
  return Object.assign(client, {
    port,
    dataDir,
    tlsCa,
    notices,
    listen: async () => {
      const receiver = await listen();
      receivers.push(receiver);
      return receiver;
    },
    stop: stopAll,
    [Symbol.asyncDispose]: stopAll,
  });
}

function stoppedError(url: string, cause: unknown): GatewayError {
  return new GatewayError('no_server', `this emulator at ${url} was stopped`, {
    hint: hint`Stop it after its last use, as in afterAll.`,
    cause,
  });
}
