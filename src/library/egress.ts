import { lookup } from 'node:dns/promises';
import { allowedHosts, Egress, endpointOf, isMetadata, isOwnInterface } from '../delivery/egress.ts';
import type { ControlServer } from './control-client.ts';

/**
 * What a command or a test that sends for an emulator may reach: what the IPNs of that emulator may, but for the
 * metadata of a cloud, and what its user allows beside. The emulator itself is none of it.
 *
 * @param allowed hosts, as for `--allow-ipn-host`
 */
export async function egressOf(server: ControlServer, allowed: readonly string[] = []): Promise<Egress> {
  const { options } = await server.call('GET /status');
  const theirs = allowedHosts({ allowIpnHost: [], ...options });
  const { host, port } = endpointOf(new URL(server.url));
  const { address } = await lookup(host);
  const ownPort = isOwnInterface(address) ? port : undefined;
  // What answers may be no emulator of the user's: only the user leads to the credentials of a machine.
  return new Egress([...theirs.filter((one) => !isMetadata(one)), ...allowed], () => ownPort);
}
