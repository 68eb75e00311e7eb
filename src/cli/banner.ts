import { relative } from 'node:path';
import { command, hint } from '../contract/hint.ts';
import { faultView } from '../http/control/views.ts';
import type { ResolvedOptions } from '../options.ts';
import type { RunningServer } from '../server.ts';
import { pairs } from './layout.ts';
import type { Output } from './output.ts';

/** The first line of `start --json`. */
export function readyEvent({ url, port, publicKey, secretKey, dataDir, controlToken, parts }: RunningServer) {
  const dashboardUrl = `${parts.facts.baseUrl()}/_sim`;
  const keys = { publicKey, secretKey, dashboardUrl };
  return { event: 'ready', url, port, ...keys, dataDir, controlToken, pid: process.pid };
}
export type ReadyEvent = ReturnType<typeof readyEvent>;

/** What `start` says to people: what to connect with, and what to try first. */
export function bannerText(
  { parts }: RunningServer,
  options: ResolvedOptions,
  { url, dashboardUrl, publicKey, secretKey, dataDir, controlToken }: ReadyEvent,
  { colour, render }: Output,
  cwd: string,
): string {
  const { state } = parts.gateway;
  const stored = `${state.payments.size} payments, ${state.cards.size} cards`;
  const liveEmail = state.wallets.values().next().value?.email ?? 'none';
  const facts = pairs({
    ['Base URL'.padEnd(12)]: options.publicUrl ? `${url}  (public: ${options.publicUrl})` : url,
    Dashboard: dashboardUrl,
    'Public key': publicKey,
    'Secret key': secretKey,
    'Control token': controlToken ?? undefined,
    Sandbox: `e-mail ${options.sandboxEmail}   code ${options.sandboxCode}`,
    Live: render(hint`e-mail ${liveEmail}   code: ${command('inbox')}`),
    Seed: options.seed && `${options.seed}   ids, codes and card numbers repeat`,
    State: dataDir
      ? `${relative(cwd, dataDir) || '.'}/db.json  (${stored})`
      : 'in memory, gone when this stops',
  });
  const example = command(
    'payments create',
    ...['--amount', '100', '--currency', 'USD', '--ipn-url', 'http://localhost:3000/ipn'],
  );
  const text = [
    `${colour.bold('gateway-sim')} ${parts.facts.version}   ${colour.yellow('LOCAL EMULATOR, no real money moves')}`,
    '',
    facts,
    ...parts.faults.list.map((fault) => colour.red(`FAULT ON      ${faultView(fault).summary}`)),
    '',
    render(hint`Try it        ${example}`),
    render(hint`Ctrl-C stops. ${command('--help')} lists everything.`),
  ].join('\n');
  return `\n${text.replace(/^(?=.)/gm, '  ')}\n`;
}

/** What `start --detach` says to people. */
export function detachedBannerText(
  { url, dashboardUrl, publicKey, secretKey, dataDir, controlToken, pid }: ReadyEvent,
  log: string,
  { render }: Output,
  cwd: string,
): string {
  const facts = pairs({
    'Base URL': url,
    Dashboard: dashboardUrl,
    'Public key': publicKey,
    'Secret key': secretKey,
    'Control token': controlToken ?? undefined,
    Log: dataDir ? relative(cwd, log) : log,
    'Stop it': render([command('stop')]),
  });
  return `gateway-sim runs in the background (process ${pid})\n\n${facts}`;
}
