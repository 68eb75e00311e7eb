import { readFileSync } from 'node:fs';
import type { Agent } from 'node:https';
import { isIP } from 'node:net';
import type { Outgoing } from './sender.ts';

/** Whom to believe when a receiver of IPNs shows its certificate. */
export interface ReceiverTrust {
  /** Certificates (PEM) that are trusted beside the usual ones. */
  ca?: string | undefined;
  /** At loopback and private addresses any certificate will do. */
  insecure?: boolean;
}

/** The agents for https: that checks certificates, and, where that is allowed, one that does not. */
export interface SecureAgents {
  checking: Agent;
  insecure: Agent | undefined;
}

/** Loaded when the first receiver speaks TLS: few of those on a developer's machine do, and it takes long. */
export async function secureAgents({ ca, insecure = false }: ReceiverTrust): Promise<SecureAgents> {
  const [https, tls] = await Promise.all([import('node:https'), import('node:tls')]);
  // Read once: there are many of them, and a list of one's own replaces the usual ones.
  const context =
    ca === undefined
      ? undefined
      : tls.createSecureContext({ ca: [...tls.rootCertificates, ...extraCertificates(), ca] });
  return {
    checking: new https.Agent({ keepAlive: true, ...(context && { secureContext: context }) }),
    insecure: insecure ? new https.Agent({ keepAlive: true, rejectUnauthorized: false }) : undefined,
  };
}

/** What Node trusts beside its own list, too. */
function extraCertificates(): string[] {
  const path = process.env['NODE_EXTRA_CA_CERTS'];
  try {
    return path ? [readFileSync(path, 'utf8')] : [];
  } catch {
    // Node has said that it cannot be read.
    return [];
  }
}

/**
 * What is asked of the certificate of a receiver that is reached elsewhere than at its own name: it may be for that
 * name, or for where it is.
 */
export async function reachedAs(name: string, host: string): Promise<NonNullable<Outgoing['tls']>> {
  const { checkServerIdentity } = await import('node:tls');
  return {
    ...(!isIP(name) && { servername: name }),
    checkServerIdentity: (_, certificate) =>
      checkServerIdentity(name, certificate) && checkServerIdentity(host, certificate),
  };
}
