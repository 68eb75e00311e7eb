import type { Agent } from 'node:https';
import { usage } from '../contract/error.ts';
import { identityCheck } from '../delivery/sender.ts';
import { readText, reason } from '../store/files.ts';

/** Agents by the content of the file that they trust, reused for all requests to an emulator. */
const agents = new Map<string, Agent>();

/**
 * An agent that trusts only the certificates in a file. If the file contains the server's own certificate, any host name
 * is accepted: the user who named the file trusts that server.
 *
 * @throws GatewayError `usage` for a file that cannot be read
 */
export async function trustingAgent(tlsCa: string): Promise<Agent> {
  const ca = await readTrusted(tlsCa);
  const known = agents.get(ca);
  if (known) return known;
  const [https, check] = await Promise.all([import('node:https'), identityCheck()]);
  const isNamed = (certificate: Buffer) => ca.replace(/\s/g, '').includes(certificate.toString('base64'));
  const agent = new https.Agent({
    ca,
    keepAlive: true,
    // The file may contain a server's certificate without its issuer.
    allowPartialTrustChain: true,
    checkServerIdentity: (host, certificate) =>
      isNamed(certificate.raw) ? undefined : check(host, certificate),
  });
  agents.set(ca, agent);
  return agent;
}

async function readTrusted(tlsCa: string): Promise<string> {
  try {
    return await readText(tlsCa, { follows: true });
  } catch (cause) {
    const why = `the file to trust (--tls-ca) cannot be read from ${tlsCa}: ${reason(cause)}`;
    throw usage(why, { cause });
  }
}

/** Whether a connection failed because the server's certificate is not trusted. */
export function isUntrusted(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  return /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/.test(code);
}
