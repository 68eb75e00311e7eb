import { relative } from 'node:path';
import { command, hint } from '../contract/error.ts';
import { foreignKeys, masked } from '../contract/secrets.ts';
import { initiateUrl } from '../service/merchant.ts';
import { fidelityIn, profileText } from '../system/fidelity.ts';
import { VERSION } from '../system/package-info.ts';
import { type Output, pairs } from './output.ts';
import { Printed } from './printed.ts';
import type { RunningServer } from './start-emulator.ts';

/** The first line of `start --json`. */
export type ReadyEvent = ReturnType<typeof readyEvent>;

type Emulator = Pick<
  RunningServer,
  'url' | 'port' | 'publicKey' | 'secretKey' | 'dataDir' | 'controlToken' | 'tlsCa'
> & { pid: number };

export function readyEvent(emulator: Emulator, baseUrl: string, isProxy: boolean) {
  const { url, port, publicKey, secretKey, dataDir, controlToken, tlsCa, pid } = emulator;
  return {
    event: 'ready' as const,
    url,
    port,
    publicKey,
    secretKey,
    dashboardUrl: `${baseUrl}/_sim`,
    dataDir,
    controlToken,
    /** The file that clients must trust; null for plain HTTP. */
    tlsCa,
    /** The port of the proxy; null without --proxy. */
    proxyPort: isProxy ? port : null,
    pid,
  };
}

/** Prints that an emulator is ready, in the form that its options request. */
export function announce(
  ready: ReadyEvent,
  notices: readonly string[],
  output: Output,
  banner: () => string | Printed,
): void {
  output.pointTo(ready);
  for (const notice of notices) output.notice(notice);
  if (output.json) output.document(JSON.stringify(ready));
  else output.line(output.quiet ? `ready ${ready.url}` : banner());
}

/** The text of `start`: how to connect, and what to try first. */
export function bannerText(
  ready: ReadyEvent,
  server: RunningServer,
  { colour, render, secrets }: Output,
  cwd: string,
): Printed {
  const { url, dataDir, controlToken, tlsCa, proxyPort } = ready;
  const { store, runtime } = server.parts;
  const { options } = runtime;
  const { protocol, hostname } = new URL(url);
  const hosts = options.hostAlias.join(', ');
  // Commands read the token from the data folder. An emulator in memory has none.
  const token = dataDir === null && controlToken ? ['--control-token', controlToken] : [];
  const example = command('payments create', '--amount', '100', ...token);
  const liveEmail = store.state.wallets.values().next().value?.email ?? 'none';
  const facts = pairs({
    'Base URL': options.publicUrl ? `${url}  (public: ${options.publicUrl})` : url,
    ...accessTo(ready),
    // How clients with a hard-coded gateway host connect, and where IPNs and mapped hosts go.
    Proxy: proxyPort === null ? undefined : `http://${hostname}:${proxyPort}   for ${hosts}`,
    Forwarded: options.forwardIpn.map((target) => secrets.mask(target)).join(', ') || undefined,
    Aliases:
      proxyPort === null && hosts ? `${hosts}   (${protocol}//, add them to your hosts file)` : undefined,
    Trust: tlsCa === null ? undefined : `${tlsCa}   (nothing was installed)`,
    Sandbox: `e-mail ${options.sandboxEmail}   code ${options.sandboxCode}`,
    Live: render(hint`e-mail ${liveEmail}   code from: ${command('inbox', ...token)}`),
    Profile: profileText(fidelityIn(options)),
    Seed: options.seed && `${options.seed}   ids, codes and card numbers are repeatable`,
    State: dataDir
      ? `${relative(cwd, dataDir) || '.'}/db.json  (${store.state.payments.size} payments, ${store.state.cards.size} cards)`
      : 'in memory, lost when the emulator stops',
  });
  const lines = [
    Printed.line`${colour.bold('gateway-sim')} ${VERSION}   ${colour.yellow('LOCAL EMULATOR, no real money moves')}`,
    '',
    ...facts.split('\n'),
    '',
    render(hint`Try it        ${example}`),
    'Run commands in this folder, where they find gateway-sim.',
    render(hint`Press Ctrl-C to stop. For all commands, run: ${command('--help')}`),
  ];
  return Printed.lines(['', ...lines.map((line) => (line === '' ? line : Printed.line`  ${line}`)), '']);
}

export function detachedBannerText(ready: ReadyEvent, log: string, { render }: Output, cwd: string): string {
  const facts = pairs({
    'Base URL': ready.url,
    ...accessTo(ready),
    Trust: ready.tlsCa ?? undefined,
    Log: ready.dataDir ? relative(cwd, log) : log,
    'Stop it': render([command('stop')]),
  });
  return `gateway-sim is running in the background (process ${ready.pid})\n\n${facts}`;
}

function accessTo(ready: ReadyEvent) {
  const { dashboardUrl, controlToken } = ready;
  const foreign = foreignKeys(ready);
  const keyText = (name: 'publicKey' | 'secretKey') =>
    foreign.includes(name) ? masked(ready[name]) : ready[name];
  return {
    'Initiate URL': initiateUrl(ready.url),
    Dashboard: dashboardUrl,
    'Public key': keyText('publicKey'),
    'Secret key': keyText('secretKey'),
    'Control token': controlToken ?? undefined,
  };
}

/** Announces a scheduled retry, expiry or automatic settlement. */
const dueText = (at: string) => `some work is still scheduled, next at ${at}`;
/** The same announcement when the emulator stops. */
export const leftText = (at: string) => `${dueText(at)}; it continues after the next start`;

/** Notices of the start, scheduled work and active faults. @param quiet whether to omit the scheduled work */
export function noticesOf(server: RunningServer, { quiet }: { quiet: boolean }): string[] {
  const { nextDue } = server.parts.clock.read();
  const due = nextDue === null || quiet ? [] : [dueText(new Date(nextDue).toISOString())];
  const faults = server.faults().map((fault) => `FAULT ON  ${fault}`);
  return [...server.notices, ...due, ...faults].map((notice) => `gateway-sim: ${notice}`);
}
