import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityView, TypedResponse } from '../../client.ts';
import { noServer, reference } from '../../client.ts';
import { GatewayError } from '../../domain/error.ts';
import { isAlive } from '../../store/folder.ts';
import { connect, type ServerChoice } from '../connect.ts';
import { activityLines } from '../lines.ts';
import { pairs, type Shown, table } from '../output.ts';
import type { Call } from '../program.ts';

/** `stop` gives a server this long, in real time. */
const STOP_LIMIT_MS = 10_000;

/** `gateway-sim status` */
export async function status({ options }: Call): Promise<Shown> {
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

/** `gateway-sim stop`: returns when the port is free and the process gone. */
export async function stop({ options }: Call): Promise<Shown> {
  const server = await connect(options as ServerChoice, { guess: false });
  const { pid } = await server.ask(server.client.shutdown.$post());
  const deadline = performance.now() + STOP_LIMIT_MS;
  while ((isAlive(pid) && pid !== process.pid) || (await answers(server.url))) {
    if (performance.now() > deadline) {
      throw new GatewayError('timed_out', `process ${pid} did not stop within ${STOP_LIMIT_MS / 1_000} s`, {
        remedy: `End it with: kill ${pid}`,
      });
    }
    await sleep(20);
  }
  return { json: { stopped: true, url: server.url, pid }, text: `Stopped ${server.url}` };
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/_sim/livez`).then(
    () => true,
    () => false,
  );
}

/** `gateway-sim inbox` */
export async function inbox({ options }: Call): Promise<Shown> {
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
export async function logs({ options, output }: Call): Promise<undefined> {
  const server = await connect(options as ServerChoice);
  const query = { since: '0', follow: String(options['follow'] === true) as 'true' | 'false' };
  const response = await server.client.events.$get({ query }).catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  // What is no stream of events is an error of the server, or no answer of ours at all.
  if (!response.ok) await server.ask(Promise.resolve(response as TypedResponse<unknown>));
  if (!response.body) throw noServer(server.url);
  for await (const activity of activities(response.body)) {
    if (output.unread) break;
    if (output.json) output.line(JSON.stringify(activity));
    else for (const line of activityLines(activity, output.colour)) output.line(line);
  }
  return undefined;
}

/** The happenings in a stream of server-sent events; ends with the stream. */
async function* activities(body: ReadableStream<Uint8Array>): AsyncGenerator<ActivityView> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = event.split('\n').find((line) => line.startsWith('data: '));
        if (data) yield JSON.parse(data.slice('data: '.length)) as ActivityView;
      }
    }
  } catch (error) {
    // The server was killed in the middle of the stream: that ends the log like a stop does.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** `gateway-sim open`: the dashboard, or the checkout of a payment. */
export async function open({ args: [what = 'dashboard', ref], options, output }: Call): Promise<Shown> {
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
    remedy: 'gateway-sim payments create makes one.',
  });
}
