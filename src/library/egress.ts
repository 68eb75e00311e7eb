import { lookup } from 'node:dns/promises';
import { allowedHosts, Egress, endpointOf, isMetadata, isOwnInterface } from '../delivery/egress.ts';
import type { ControlServer } from './control-client.ts';

/**
 * The addresses that a command or test may reach when it sends for an emulator: where the emulator's IPNs may go, except
 * cloud metadata, and what the user allows. The emulator itself is excluded.
 *
 * @param allowed the allowed hosts, as for `--allow-ipn-host`
 */
export async function egressOf(server: ControlServer, allowed: readonly string[] = []): Promise<Egress> {
  const { options } = await server.call('GET /status');
  const theirs = allowedHosts({ allowIpnHost: [], ...options });
  const { host, port } = endpointOf(new URL(server.url));
  const { address } = await lookup(host);
  const ownPort = isOwnInterface(address) ? port : undefined;
  // The server might belong to someone else. Only the user may allow an address that gives out the machine's
  // credentials.
  return new Egress([...theirs.filter((one) => !isMetadata(one)), ...allowed], () => ownPort);
}
