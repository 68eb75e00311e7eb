import { DEFAULT_PORT } from '../../contract/address.ts';
import type { ShopDatabase } from '../../contract/emulator.ts';
import { GatewayError, hint, usage } from '../../contract/error.ts';
import { pluralize } from '../../contract/text.ts';
import { foreignServer, noServer } from '../../library/control-client.ts';
import { isAlive } from '../../store/process-identity.ts';
import { profileText } from '../../system/fidelity.ts';
import { leftText } from '../banner.ts';
import { defineCommand, duration } from '../command.ts';
import { isNoServer, noPayment, probe, retry } from '../connect.ts';
import { openInBrowser, pairs } from '../output.ts';
import { onOneLine } from '../printed.ts';

/** How long `stop` waits for a server to stop, in real time. */
const STOP_LIMIT_MS = 10_000;
/** How long `stop` waits for a process after its port is free, if no server.json names it: it may run elsewhere. */
const ELSEWHERE_MS = 2_000;
const WAIT_LIMIT_MS = 30_000;

export const status = defineCommand({
  summary: 'show the running emulator',
  run: async ({ call }) => {
    const facts = await call('GET /status');
    const counts = Object.entries(facts.counts.payments).map(([name, count]) => `${count} ${name}`);
    const text = pairs({
      Version: facts.version,
      'Base URL': facts.url,
      Trust: facts.tlsCa ?? undefined,
      State: facts.dataDir ?? 'in memory',
      Profile: profileText(facts.fidelity),
      Process: String(facts.pid),
      Started: facts.startedAt,
      Payments: counts.join(', '),
      IPNs: String(facts.counts.deliveries),
      Database: facts.database ? describeDatabase(facts.database) : undefined,
      Clock: `${facts.clock.now}${facts.clock.frozen ? '  (frozen)' : ''}`,
    });
    const faults = facts.faults.filter(({ spent }) => !spent);
    return {
      json: facts,
      text: [
        text,
        ...faults.map(({ summary }) => `FAULT ON  ${onOneLine(summary)}`),
        ...facts.notices.map((notice) => `NOTICE    ${onOneLine(notice)}`),
      ].join('\n'),
    };
  },
});

const describeDatabase = ({ tables, lastMs, problem }: ShopDatabase) =>
  problem === null
    ? `${pluralize(tables, 'table')} read around each IPN${lastMs === null ? '' : ` (the last time in ${lastMs} ms)`}`
    : `not read: ${problem}`;

export const stop = defineCommand({
  summary: 'stop the running emulator',
  run: async ({ connect }) => {
    const server = await connect();
    const { pid, nextDue } = await server.call('POST /shutdown');
    // A pid that only the response names may be from a container, and belong to another process on this machine.
    const graceMs = server.pid === pid ? Number.POSITIVE_INFINITY : ELSEWHERE_MS;
    let freeSince: number | undefined;
    const requireStopped = async () => {
      if (['nothing', 'foreign'].includes(await probe(server, 1_000))) freeSince ??= performance.now();
      const isGone = !isAlive(pid) || pid === process.pid;
      if (freeSince !== undefined && (isGone || performance.now() - freeSince > graceMs)) return;
      throw new GatewayError('timed_out', `process ${pid} did not stop within ${STOP_LIMIT_MS / 1_000} s`, {
        hint: hint`Kill it with: kill ${String(pid)}`,
      });
    };
    await retry(STOP_LIMIT_MS, requireStopped, () => true);
    return {
      json: { stopped: true, url: server.url, pid },
      text: `Stopped ${server.url}`,
      notices: nextDue ? [`gateway-sim: ${leftText(nextDue)}`] : [],
    };
  },
});

/** Returns when an emulator is ready, even if it writes its address only then. */
export const wait = defineCommand({
  summary: 'wait until the emulator is ready',
  options: { timeout: duration('wait at most this long, then exit 3 (default: 30s)') },
  examples: ['wait', `wait --timeout 2m --url http://gateway:${DEFAULT_PORT}`],
  run: async ({ options: { timeout = WAIT_LIMIT_MS }, connect }) => {
    const tryToReach = async (leftMs: number) => {
      const server = await connect();
      const found = await probe(server, Math.min(Math.max(leftMs, 250), 2_000));
      if (found === 'ready') return server.url;
      throw found === 'foreign' ? foreignServer(server.url) : noServer(server.url);
    };
    const url = await retry(timeout, tryToReach, isNoServer).catch((error: unknown) => {
      if (!isNoServer(error)) throw error;
      throw error.with({}, `${error.message} (waited ${timeout / 1_000} s)`);
    });
    return { json: { ready: true, url }, text: url };
  },
});

export const open = defineCommand({
  args: ['[what]', '[ref]'],
  summary: 'open the dashboard, or the checkout of a payment, in the browser',
  examples: ['open', 'open checkout order-1'],
  run: async ({ args: [what = 'dashboard', ref], output, call }) => {
    const pageOf = async () => {
      if (what === 'dashboard') return `${(await call('GET /status')).url}/_sim`;
      if (what !== 'checkout') throw usage(`open accepts dashboard or checkout (got "${what}")`);
      if (ref !== undefined) return (await call('GET /payments/:ref', { param: { ref } })).checkoutUrl;
      const { data } = await call('GET /payments', { query: { status: 'pending', limit: '1' } });
      if (data[0]) return data[0].checkoutUrl;
      throw noPayment('no payment is pending');
    };
    const url = await pageOf();
    await openInBrowser(url, output);
    return { json: { url }, text: url };
  },
});
