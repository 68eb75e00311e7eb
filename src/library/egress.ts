import { lookup } from 'node:dns/promises';
import { allowedHosts, Egress, endpointOf, isOwnInterface } from '../delivery/egress.ts';
import type { ControlServer } from './control-client.ts';

/**
 * What a command or a test that sends for an emulator may reach: what the IPNs of that emulator may, and what its user
 * allows beside. The emulator itself is none of it.
 *
 * @param allowed hosts, as for `--allow-ipn-host`
 */
export async function egressOf(server: ControlServer, allowed: readonly string[] = []): Promise<Egress> {
  const { options } = await server.call('GET /status');
  const theirs = allowedHosts({ allowIpnHost: [], ...options });
  const { host, port } = endpointOf(new URL(server.url));
  const { address } = await lookup(host);
  const ownPort = isOwnInterface(address) ? port : undefined;
  return new Egress([...theirs, ...allowed], () => ownPort);
}
