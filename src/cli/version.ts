import { PROFILE_NAMES } from '../contract/profiles.ts';
import { fidelityIn, fidelityOf, fidelityText } from '../system/fidelity.ts';
import { VERSION } from '../system/package-info.ts';
import { readConfiguration, startConfiguration } from './configuration.ts';
import type { Io } from './io.ts';
import { pairs } from './layout.ts';

/**
 * The version, the profile that `start` would use here, and the facts behind each profile.
 *
 * @param profile the value of the flag
 * @throws GatewayError `usage` for a configuration that cannot be read
 */
export async function versionText(io: Pick<Io, 'env' | 'cwd'>, profile?: string): Promise<string> {
  const flags = profile === undefined ? {} : { profile };
  const options = startConfiguration(flags, io.env, await readConfiguration(undefined, io));
  const others = PROFILE_NAMES.filter((name) => name !== options.profile);
  const facts = pairs({
    Profile: fidelityText(fidelityIn(options)),
    Others: others.map((name) => `${name} ${fidelityOf(name).lines}`).join(', '),
    Node: `${process.version} ${process.platform} ${process.arch}`,
  });
  return `${VERSION}\n${facts}`;
}
