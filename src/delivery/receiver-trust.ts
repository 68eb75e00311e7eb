import { readFileSync } from 'node:fs';
import type { Agent } from 'node:https';
import { isIP } from 'node:net';
import { identityCheck, type Outgoing } from './sender.ts';

/** Which certificates of IPN receivers to trust. */
export interface ReceiverTrust {
  /** CA certificates (PEM) to trust in addition to Node's. */
  ca?: string | undefined;
  /** Whether to accept any certificate at loopback and private addresses. */
  insecure?: boolean;
}

/** The https agents: one that checks certificates and, if allowed, one that does not. */
export interface SecureAgents {
  checking: Agent;
  insecure: Agent | undefined;
}

/** Loads TLS for the first https receiver: loading is slow, and few receivers on a developer's machine use https. */
export async function secureAgents({ ca, insecure = false }: ReceiverTrust): Promise<SecureAgents> {
  const [https, tls] = await Promise.all([import('node:https'), import('node:tls')]);
  // Created once, because there are many root certificates. A custom list replaces Node's, so it must include them.
  const context =
    ca === undefined
      ? undefined
      : tls.createSecureContext({ ca: [...tls.rootCertificates, ...extraCertificates(), ca] });
  return {
    checking: new https.Agent({ keepAlive: true, ...(context && { secureContext: context }) }),
    insecure: insecure ? new https.Agent({ keepAlive: true, rejectUnauthorized: false }) : undefined,
  };
}

/** The certificates that Node trusts in addition to its own list. */
function extraCertificates(): string[] {
  const path = process.env['NODE_EXTRA_CA_CERTS'];
  try {
    return path ? [readFileSync(path, 'utf8')] : [];
  } catch {
    // Node itself warns when it cannot read the file.
    return [];
  }
}

/** Accepts a certificate for the receiver's own name or for the host that its name is mapped to. */
export async function eitherName(name: string, host: string): Promise<NonNullable<Outgoing['tls']>> {
  const check = await identityCheck();
  return {
    ...(!isIP(name) && { servername: name }),
    checkServerIdentity: (_, certificate) => check(name, certificate) && check(host, certificate),
  };
}
