import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { noServer, reference, type SimEventView, type TypedResponse } from '../../library/control-client.ts';
import { isAlive } from '../../store/process-identity.ts';
import { connect, type ServerChoice } from '../connect.ts';
import { eventLines } from '../lines.ts';
import { type CommandResult, pairs, table } from '../output.ts';
import { type Found, foreignServer, probe, requireEmulator } from '../probe.ts';
import type { CommandContext } from '../program.ts';

/** `stop` gives a server this long, in real time. */
const STOP_LIMIT_MS = 10_000;

/** `gateway-sim status` */
export async function status({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const facts = await server.ask(server.client.status.$get());
  const counts = Object.entries(facts.counts.payments).map(([name, count]) => `${count} ${name}`);
  const text = pairs([
    ['Version', facts.version],
    ['Base URL', facts.url],
    ['State', facts.dataDir ?? 'in memory'],
    ['Process', String(facts.pid)],
    ['Started', facts.startedAt],
    ['Payments', counts.join(', ')],
    ['IPNs', String(facts.counts.deliveries)],
    ['Clock', `${facts.clock.now}${facts.clock.frozen ? '  (frozen)' : ''}`],
    ...facts.faults
      .filter(({ spent }) => !spent)
      .map(({ summary }): [string, string] => ['FAULT ON', summary]),
  ]);
  return { json: facts, text };
}

/** So long the process of an emulator that nobody vouches for may stay when its port is free: it may run elsewhere. */
const ELSEWHERE_MS = 2_000;

/** `gateway-sim stop`: returns when the port is free and the process gone. */
export async function stop({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice, { guess: false });
  await requireEmulator(server.url);
  const { pid } = await server.ask(server.client.shutdown.$post());
  const deadline = performance.now() + STOP_LIMIT_MS;
  // A number that only the answer tells may be that of a process in a container, and of quite another one here.
  const isHere = server.pid === pid;
  let freeSince: number | undefined;
  for (;;) {
    if (isFree(await probe(server.url, 1_000))) freeSince ??= performance.now();
    const isGone = !isAlive(pid) || pid === process.pid;
    if (freeSince !== undefined && (isGone || (!isHere && performance.now() - freeSince > ELSEWHERE_MS)))
      break;
    if (performance.now() > deadline) {
      throw new GatewayError('timed_out', `process ${pid} did not stop within ${STOP_LIMIT_MS / 1_000} s`, {
        hint: hint`End it with: kill ${String(pid)}`,
      });
    }
    await sleep(20);
  }
  return { json: { stopped: true, url: server.url, pid }, text: `Stopped ${server.url}` };
}

function isFree(found: Found): boolean {
  return found === 'nothing' || found === 'foreign';
}

/** `wait` waits so long unless it is told otherwise, and looks so often. */
const WAIT_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 50;

/** `gateway-sim wait`: returns when an emulator is ready, also one that only then tells where it is. */
export async function wait({ options }: CommandContext): Promise<CommandResult> {
  const { timeout } = options;
  const limitMs = typeof timeout === 'number' ? timeout : WAIT_LIMIT_MS;
  const deadline = performance.now() + limitMs;
  for (;;) {
    const left = () => deadline - performance.now();
    const problem = await look(options as ServerChoice, left());
    if (typeof problem === 'string') return { json: { ready: true, url: problem }, text: problem };
    if (left() <= 0) {
      throw new GatewayError('no_server', `${problem.message} (waited ${limitMs / 1_000} s)`, {
        ...(problem.hint && { hint: problem.hint }),
      });
    }
    await sleep(Math.min(LOOK_EVERY_MS, Math.max(1, left())));
  }
}

/** The address of the emulator that is ready, or why there is none yet. */
async function look(choice: ServerChoice, limitMs: number): Promise<string | GatewayError> {
  try {
    const { url } = await connect(choice);
    const found = await probe(url, Math.min(Math.max(limitMs, 250), 2_000));
    if (found === 'ready') return url;
    return found === 'foreign' ? foreignServer(url) : noServer(url);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'no_server') return error;
    throw error;
  }
}

/** `gateway-sim inbox` */
export async function inbox({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const page = await server.ask(server.client.inbox.$get());
  const rows = page.data.map(({ sentAt, email, code, identifier, expiresAt }) => [
    sentAt.slice(0, 19).replace('T', ' '),
    email,
    code,
    identifier,
    expiresAt.slice(0, 19).replace('T', ' '),
  ]);
  return {
    json: page,
    text: table(['Sent (UTC)', 'E-mail', 'Code', 'Identifier', 'Valid until (UTC)'], rows),
    notices: page.data.length ? [] : ['No codes yet: they are sent when a live checkout gets an e-mail.'],
  };
}

/** `gateway-sim logs`: what is remembered, and with --follow what happens from now on. */
export async function logs({ options, output }: CommandContext): Promise<undefined> {
  const server = await connect(options as ServerChoice);
  const query = { since: '0', follow: String(options['follow'] === true) as 'true' | 'false' };
  const response = await server.client.events.$get({ query }).catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  // What is no stream of ours is an error of the server, or no answer of ours at all.
  if (!response.ok || response.headers.get('x-gateway-sim') === null)
    await server.ask(Promise.resolve(response as TypedResponse<unknown>));
  if (!response.body) throw noServer(server.url);
  for await (const activity of activities(response.body)) {
    if (output.unread) break;
    if (output.json) output.line(JSON.stringify(activity));
    else for (const line of eventLines(activity, output.colour)) output.line(line);
  }
  return undefined;
}

/** The happenings in a stream of server-sent events; ends with the stream. */
async function* activities(body: ReadableStream<Uint8Array>): AsyncGenerator<SimEventView> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = event.split('\n').find((line) => line.startsWith('data: '));
        if (data) yield JSON.parse(data.slice('data: '.length)) as SimEventView;
      }
    }
  } catch (error) {
    // The server was killed in the middle of the stream: that ends the log like a stop does.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** `gateway-sim open`: the dashboard, or the checkout of a payment. */
export async function open({
  args: [what = 'dashboard', ref],
  options,
  output,
}: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const url = await pageOf(what, ref, server);
  const { default: openInBrowser } = await import('open');
  await openInBrowser(url).catch(() => output.notice(`No browser could be opened: go to ${url}`));
  return { json: { url }, text: url };
}

async function pageOf(
  what: string,
  ref: string | undefined,
  server: Awaited<ReturnType<typeof connect>>,
): Promise<string> {
  if (what === 'dashboard') return `${(await server.ask(server.client.status.$get())).url}/_sim`;
  if (what !== 'checkout')
    throw new GatewayError('usage', `open takes dashboard or checkout (got "${what}")`);
  if (ref !== undefined) {
    return (await server.ask(server.client.payments[':ref'].$get({ param: { ref: reference(ref) } })))
      .checkoutUrl;
  }
  const { data } = await server.ask(
    server.client.payments.$get({ query: { status: 'pending', limit: '1' } }),
  );
  if (data[0]) return data[0].checkoutUrl;
  throw new GatewayError('not_found', 'no payment is pending', {
    hint: hint`${command('payments create')} makes one.`,
  });
}
