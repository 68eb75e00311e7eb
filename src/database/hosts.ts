import { GatewayError } from '../contract/error.ts';
import { unreadable } from './run-client.ts';

/** The parts of the address of a database on a server. */
export interface ServerAddress {
  user: string;
  /** At least one. A name is empty for the default of the client. */
  hosts: readonly { name: string; port: string }[];
  database: string;
  parameters: ReadonlyMap<string, string>;
}

/** The addresses of a host that may be connected. @throws GatewayError `forbidden`, or the error of the resolver */
export type Resolve = (host: string, port: number) => Promise<readonly string[]>;

/**
 * The addresses of a host that `--db` names. They are connected instead of the name, which could resolve differently then.
 *
 * @throws GatewayError `forbidden`; `check_failed` if it cannot be resolved
 */
export async function addressesOf(host: string, port: number, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host, port);
  } catch (error) {
    if (error instanceof GatewayError)
      throw new GatewayError('forbidden', `--db names a forbidden host: ${error.message}`, { cause: error });
    throw unreadable(`the name ${host} cannot be resolved`, error);
  }
}
