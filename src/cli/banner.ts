import { relative } from 'node:path';
import { command, hint } from '../contract/hint.ts';
import type { ResolvedOptions } from '../options/table.ts';
import { fidelityIn, fidelityText } from '../system/fidelity.ts';
import { VERSION } from '../system/package-info.ts';
import { pairs } from './layout.ts';
import type { Output } from './output.ts';
import type { RunningServer } from './start-emulator.ts';

/** The first line of `start --json`. */
export interface ReadyEvent {
  event: 'ready';
  url: string;
  port: number;
  publicKey: string;
  secretKey: string;
  dashboardUrl: string;
  dataDir: string | null;
  controlToken: string | null;
  /** The file that clients trust; null where plain http is spoken. */
  tlsCa: string | null;
  /** Where it answers as a proxy; null where it is none. */
  proxyPort: number | null;
  pid: number;
}

interface Overview {
  payments: number;
  cards: number;
  liveEmail: string;
  faults: readonly string[];
}

/** What `start` says to people: what to connect with, and what to try first. */
export function bannerText(
  ready: ReadyEvent,
  { payments, cards, liveEmail, faults }: Overview,
  options: ResolvedOptions,
  { colour, render }: Output,
  cwd: string,
): string {
  const { url, dataDir } = ready;
  // A folder tells commands the token; of an emulator in memory nobody else does.
  const token = dataDir === null && ready.controlToken ? ['--control-token', ready.controlToken] : [];
  const order = ['--amount', '100', '--currency', 'USD', '--ipn-url', 'http://localhost:3000/ipn'];
  const example = command('payments create', ...order, ...token);
  const facts = pairs({
    ['Base URL'.padEnd(12)]: options.publicUrl ? `${url}  (public: ${options.publicUrl})` : url,
    ...accessTo(ready),
    ...waysIn(ready, options),
    Sandbox: `e-mail ${options.sandboxEmail}   code ${options.sandboxCode}`,
    Live: render(hint`e-mail ${liveEmail}   code: ${command('inbox', ...token)}`),
    Profile: fidelityText(fidelityIn(options)),
    Seed: options.seed && `${options.seed}   ids, codes and card numbers repeat`,
    State: dataDir
      ? `${relative(cwd, dataDir) || '.'}/db.json  (${payments} payments, ${cards} cards)`
      : 'in memory, gone when this stops',
  });
  const text = [
    `${colour.bold('gateway-sim')} ${VERSION}   ${colour.yellow('LOCAL EMULATOR, no real money moves')}`,
    '',
    facts,
    ...faults.map((fault) => colour.red(`FAULT ON      ${fault}`)),
    ...trustLines(ready, cwd),
    '',
    render(hint`Try it        ${example}`),
    render(hint`Ctrl-C stops. ${command('--help')} lists everything.`),
  ].join('\n');
  return `\n${text.replace(/^(?=.)/gm, '  ')}\n`;
}

/** How clients come in that have the gateway's host written into them, and where their own hosts lead. */
function waysIn({ url, proxyPort }: ReadyEvent, { hostAlias, map }: ResolvedOptions) {
  const { protocol, hostname } = new URL(url);
  const hosts = hostAlias.join(', ');
  return {
    Proxy: proxyPort === null ? undefined : `http://${hostname}:${proxyPort}   for ${hosts}`,
    Mapped: map.length ? map.join(', ') : undefined,
    Aliases:
      proxyPort === null && hosts ? `${hosts}   (${protocol}//, with your own hosts entry)` : undefined,
  };
}

/** What to trust, and where to say so. Nothing is installed. */
function trustLines({ tlsCa }: ReadyEvent, cwd: string): string[] {
  if (tlsCa === null) return [];
  const path = relative(cwd, tlsCa);
  return [
    '',
    `Trust         ${path.startsWith('..') ? tlsCa : path}   (nothing was installed)`,
    `  PHP         php -d curl.cainfo=${tlsCa} -d openssl.cafile=${tlsCa}`,
    `  Node        NODE_EXTRA_CA_CERTS=${tlsCa}`,
    `  Python      SSL_CERT_FILE=${tlsCa}   (requests: REQUESTS_CA_BUNDLE)`,
    `  Browsers    import it as an authority for web sites, or accept the warning`,
  ];
}

export function detachedBannerText(ready: ReadyEvent, log: string, { render }: Output, cwd: string): string {
  const facts = pairs({
    'Base URL': ready.url,
    ...accessTo(ready),
    Trust: ready.tlsCa ?? undefined,
    Log: ready.dataDir ? relative(cwd, log) : log,
    'Stop it': render([command('stop')]),
  });
  return `gateway-sim runs in the background (process ${ready.pid})\n\n${facts}`;
}

function accessTo({ dashboardUrl, publicKey, secretKey, controlToken }: ReadyEvent) {
  return {
    Dashboard: dashboardUrl,
    'Public key': publicKey,
    'Secret key': secretKey,
    'Control token': controlToken ?? undefined,
  };
}

/** How a retry, an expiry or a payment that settles itself is announced. */
export const dueText = (at: string) => `Something is still due, next at ${at}`;
/** And what becomes of it, at the end. */
export const leftText = (at: string) => `${dueText(at)}: it goes on with the next start`;

/** What was found at the start and should be known, what is due, and the faults that are on. */
export function noticesOf(server: RunningServer): string[] {
  const { nextDue } = server.parts.clock.read();
  const due = nextDue === null ? [] : [dueText(new Date(nextDue).toISOString())];
  const faults = faultsOf(server).map((fault) => `FAULT ON  ${fault}`);
  return [...server.notices, ...due, ...faults].map((notice) => `gateway-sim: ${notice}`);
}

export function faultsOf({ faults }: RunningServer): string[] {
  return faults().map(({ summary }) => summary);
}
