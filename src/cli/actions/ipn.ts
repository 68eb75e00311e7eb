import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { type DeliveryView, reference } from '../../library/control-client.ts';
import type { VerifyKeys } from '../../wire/signature-mistakes.ts';
import { type Verdict, verify as verifyIpn } from '../../wire/verify.ts';
import { connect, type Server, type ServerChoice } from '../connect.ts';
import { type FiredIpn, fireWithoutServer } from '../fire.ts';
import { bothSides } from '../format-attempt.ts';
import { type CommandResult, pairs, table } from '../output.ts';
import { onOneLine } from '../printable.ts';
import type { CommandContext } from '../program.ts';

/** `gateway-sim ipn list` */
export async function list({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const query: Record<string, string> = {};
  for (const name of ['payment', 'state', 'limit', 'cursor']) {
    if (typeof options[name] === 'string') query[name] = options[name];
  }
  const page = await server.ask(server.client.ipns.$get({ query }));
  const rows = page.data.map(({ id, createdAt, identifier, status, state, attempts, url }) => [
    createdAt.slice(0, 19).replace('T', ' '),
    identifier,
    status,
    state,
    `${attempts.length} (${attempts.at(-1)?.responseStatus ?? '-'})`,
    id,
    url,
  ]);
  return {
    json: page,
    text: table(['Created (UTC)', 'Identifier', 'Status', 'State', 'Attempts', 'IPN', 'To'], rows),
    notices: [
      ...(page.data.length ? [] : ['No IPNs. Settling a payment sends one: gateway-sim pay --approve']),
      ...(page.nextCursor ? [`More with: --cursor ${page.nextCursor}`] : []),
    ],
  };
}

/** `gateway-sim ipn show` */
export async function show({ args: [id = ''], options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const delivery = await server.ask(server.client.ipns[':id'].$get({ param: { id: reference(id) } }));
  return { json: delivery, text: [deliveryText(delivery), ...delivery.attempts.map(bothSides)].join('\n\n') };
}

/** `gateway-sim ipn resend`: returns after the attempt. */
export async function resend({ args: [id = ''], options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const json = typeof options['to'] === 'string' ? { to: options['to'] } : {};
  const delivery = await server.ask(
    server.client.ipns[':id'].resend.$post({ param: { id: reference(id) }, json }),
  );
  return { json: delivery, text: deliveryText(delivery), ...undelivered([delivery], options) };
}

/** `gateway-sim ipn fire`: through the server, or with --secret without any. */
export async function fire({ options }: CommandContext): Promise<CommandResult> {
  const fired =
    options['secret'] === undefined ? await fireByServer(options) : await fireWithoutServer(options);
  return {
    json: fired.length === 1 ? fired[0] : { data: fired, nextCursor: null },
    text: fired.map(deliveryText).join('\n\n'),
    ...undelivered(fired, options),
  };
}

async function fireByServer(options: CommandContext['options']): Promise<DeliveryView[]> {
  const server = await connect(options as ServerChoice);
  const json: Record<string, unknown> = {};
  const names = ['payment', 'to', 'identifier', 'amount', 'currency', 'status', 'format', 'set', 'tamper'];
  for (const name of [...names, 'times', 'delay']) {
    if (options[name] !== undefined) json[name] = options[name];
  }
  const answer = await server.ask(server.client.ipns.$post({ json }));
  return 'data' in answer ? answer.data : [answer];
}

function undelivered(
  fired: readonly FiredIpn[],
  options: CommandContext['options'],
): Pick<CommandResult, 'failure'> {
  const failed = fired.filter(({ state }) => state !== 'delivered').length;
  if (!failed || options['requireDelivery'] !== true) return {};
  return { failure: `gateway-sim: ${failed} of ${fired.length} IPNs not delivered` };
}

function deliveryText(delivery: FiredIpn): string {
  const { id, identifier, status, state, url, attempts, note, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  const outcome = last?.error ?? (last ? `answered ${last.responseStatus}` : 'no attempt yet');
  return pairs([
    ['IPN', id ?? 'sent without a server'],
    ['Identifier', identifier],
    ['Status', status],
    ['To', last && last.url !== url ? `${url}, forwarded to ${last.url}` : url],
    ['State', state],
    [`Attempt ${last?.number ?? '-'}`, outcome],
    ...(nextAttemptAt ? [['Next', nextAttemptAt] as const] : []),
    ...(note && note !== last?.error ? [['Note', note] as const] : []),
  ]);
}

/** `gateway-sim ipn verify`: exit code 1 when the IPN is not valid. */
export async function verify({ args: [argument], options }: CommandContext): Promise<CommandResult> {
  const body = await bodyOf(argument, options['body']);
  const verdict = verifyIpn(body, await verifyKeys(options));
  return {
    json: verdict,
    text: verdictText(verdict),
    ...(!verdict.valid && { failure: 'gateway-sim: the IPN is not valid' }),
  };
}

/** A verdict for people. */
export function verdictText({ valid, reasons, identifier, amount, status, expected }: Verdict): string {
  return [
    valid ? 'valid' : 'not valid',
    ...reasons.map((reason) => `  ${onOneLine(reason)}`),
    ...(identifier === null
      ? []
      : [`  ${onOneLine(`identifier ${identifier}, amount ${amount}, status ${status}`)}`]),
    ...(valid || expected === null ? [] : [`  the signature must be ${expected}`]),
  ].join('\n');
}

async function bodyOf(argument: string | undefined, option: unknown): Promise<string> {
  if (argument !== undefined && option !== undefined) {
    throw new GatewayError('usage', 'verify takes the body once: as its argument or with --body');
  }
  const given = argument ?? (typeof option === 'string' ? option : '-');
  if (argument === undefined && option === undefined && process.stdin.isTTY) {
    throw new GatewayError('usage', 'verify needs the body of an IPN: as argument, @file, or on stdin', {
      hint: hint`For example: ${command('ipn verify')} 'status=success&…' --secret sec_sim_…`,
    });
  }
  const body = given === '-' ? await readStdin() : given.startsWith('@') ? await read(given.slice(1)) : given;
  if (body.trim()) return body;
  throw new GatewayError('usage', 'the body to verify is empty');
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new GatewayError('usage', `${path} cannot be read: ${error.message}`, { cause: error });
  });
}

/**
 * The keys to check with: the secret that was given, else the server's, which knows what else may have signed.
 *
 * @throws GatewayError `no_server` when there is neither
 */
export async function verifyKeys(options: CommandContext['options']): Promise<VerifyKeys> {
  const { secret, publicKey, merchant: name } = options;
  const named: [string, string][] = typeof publicKey === 'string' ? [['the public key', publicKey]] : [];
  if (typeof secret === 'string') {
    if (secret) return { secretKey: secret, others: new Map(named) };
    throw new GatewayError('usage', '--secret must not be empty');
  }
  const { data } = await merchantsOf(options as ServerChoice);
  const merchant = data.find((one) => (name === undefined ? one.isDefault : one.name === name));
  if (!merchant) throw new GatewayError('not_found', `no merchant is called "${name}"`);
  const others = data
    .filter((one) => one !== merchant)
    .flatMap((one): [string, string][] => [
      [`the secret key of the merchant "${one.name}"`, one.secretKey],
      [`the public key of the merchant "${one.name}"`, one.publicKey],
    ]);
  return {
    secretKey: merchant.secretKey,
    others: new Map([['the public key', merchant.publicKey], ...named, ...others]),
  };
}

async function merchantsOf(choice: ServerChoice) {
  try {
    const server: Server = await connect(choice);
    return await server.ask(server.client.merchants.$get());
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'no_server') throw error;
    throw new GatewayError('no_server', error.message, {
      hint: hint`Give the secret key with --secret, or start the emulator that knows it: ${command('start')}.`,
    });
  }
}
