import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { GatewayError, usage } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import type { FormerKey, ListedMerchant } from '../contract/merchant.ts';
import { ipnBodyIn, isDeliveryId } from '../contract/pasted-ipn.ts';
import { publicKeyMisused } from '../contract/signature.ts';
import { signingKeys } from '../contract/signing-keys.ts';
import { readSecret } from '../options/secret-file.ts';
import type { Verification, VerifyKeys } from '../wire/dialect.ts';
import type { Server } from './connect.ts';
import { type Io, onOneLine } from './output.ts';

/** An IPN to verify, and the merchant whose key signs it, if known. */
interface ToVerify {
  body: string;
  merchant?: string;
}

/** The body of `ipn verify`: its argument, --body or stdin. For an id, the body of the last attempt. */
export async function bodyToVerify(
  argument: string | undefined,
  option: string | undefined,
  io: Io,
  connect: () => Promise<Server>,
): Promise<ToVerify> {
  if (argument !== undefined && option !== undefined) {
    throw usage('verify accepts the body as its argument or with --body, not both');
  }
  const given = argument ?? option;
  if (given === undefined && io.stdin.isTTY) {
    throw usage('verify requires the body of an IPN as an argument, as @file or on stdin', {
      hint: hint`For example: ${command('ipn verify', "'status=success&…'", '--secret', 'sec_sim_…')}`,
    });
  }
  if (given !== undefined && isDeliveryId(given)) {
    const sent = await (await connect()).call('GET /ipns/:id', { param: { id: given } });
    return { body: sent.attempts.at(-1)?.requestBody ?? sent.body, merchant: sent.merchantId };
  }
  const body = ipnBodyIn(await textOf(given ?? '-', io));
  if (body.trim()) return { body };
  throw usage('the body to verify is empty');
}

async function textOf(given: string, { stdin, cwd }: Io): Promise<string> {
  if (given === '-') return readAll(stdin);
  if (!given.startsWith('@')) return given;
  const path = given.slice(1);
  return readFile(resolve(cwd, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usage(`${path} cannot be read: ${error.message}`, { cause: error });
  });
}

type KeyOptions = Partial<Record<'secret' | 'publicKey' | 'merchant', string | undefined>>;

/**
 * The keys to verify with: the given secret, or else the server's keys.
 *
 * @throws GatewayError `no_server` if there is neither
 */
export async function verifyKeys(
  { secret, publicKey, merchant: name }: KeyOptions,
  connect: () => Promise<Server>,
): Promise<VerifyKeys> {
  const named = publicKey === undefined ? [] : [publicKeyMisused(publicKey)];
  if (secret) return { secretKey: readSecret(secret, '--secret'), others: named };
  if (secret === '') throw usage('--secret must not be empty');
  const { data } = await merchantsOf(connect);
  const isRequested = (one: ListedMerchant) =>
    name === undefined ? one.isDefault : one.name === name || one.id === name;
  const merchant = data.find(isRequested);
  if (!merchant) throw new GatewayError('not_found', `no merchant is called "${name}"`);
  return signingKeys(merchant, data, named);
}

/** Replaced keys of all merchants; none if no emulator is running. */
export async function formerKeys(connect: () => Promise<Server>): Promise<FormerKey[]> {
  try {
    const { data } = await (await connect()).call('GET /merchants');
    return data.flatMap((merchant) => merchant.formerKeys ?? []);
  } catch {
    return [];
  }
}

async function merchantsOf(connect: () => Promise<Server>) {
  try {
    return await (await connect()).call('GET /merchants');
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'no_server') throw error;
    throw new GatewayError('no_server', error.message, {
      hint: hint`Pass the secret key with --secret, or start an emulator with: ${command('start')}`,
    });
  }
}

export function verdictText({
  valid,
  reasons,
  fix,
  identifier,
  amount,
  status,
  expected,
}: Verification): string {
  return [
    valid ? 'valid' : 'not valid',
    ...reasons.map((reason) => `  ${onOneLine(reason)}`),
    ...(fix === null ? [] : [`  Fix: ${fix}`]),
    ...(identifier === null
      ? []
      : [`  ${onOneLine(`identifier ${identifier}, amount ${amount}, status ${status}`)}`]),
    ...(valid || expected === null ? [] : [`  the signature must be ${expected}`]),
  ].join('\n');
}
