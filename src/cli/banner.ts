import { relative } from 'node:path';
import { command, hint } from '../contract/hint.ts';
import type { ResolvedOptions } from '../options/table.ts';
import { fidelityText } from '../system/fidelity.ts';
import { VERSION } from '../system/package-info.ts';
import { pairs } from './layout.ts';
import type { Output } from './output.ts';

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
  const facts = pairs({
    ['Base URL'.padEnd(12)]: options.publicUrl ? `${url}  (public: ${options.publicUrl})` : url,
    ...accessTo(ready),
    Sandbox: `e-mail ${options.sandboxEmail}   code ${options.sandboxCode}`,
    Live: render(hint`e-mail ${liveEmail}   code: ${command('inbox')}`),
    Profile: fidelityText(options),
    Seed: options.seed && `${options.seed}   ids, codes and card numbers repeat`,
    State: dataDir
      ? `${relative(cwd, dataDir) || '.'}/db.json  (${payments} payments, ${cards} cards)`
      : 'in memory, gone when this stops',
  });
  const example = command(
    'payments create',
    ...['--amount', '100', '--currency', 'USD', '--ipn-url', 'http://localhost:3000/ipn'],
  );
  const text = [
    `${colour.bold('gateway-sim')} ${VERSION}   ${colour.yellow('LOCAL EMULATOR, no real money moves')}`,
    '',
    facts,
    ...faults.map((fault) => colour.red(`FAULT ON      ${fault}`)),
    '',
    render(hint`Try it        ${example}`),
    render(hint`Ctrl-C stops. ${command('--help')} lists everything.`),
  ].join('\n');
  return `\n${text.replace(/^(?=.)/gm, '  ')}\n`;
}

export function detachedBannerText(ready: ReadyEvent, log: string, { render }: Output, cwd: string): string {
  const facts = pairs({
    'Base URL': ready.url,
    ...accessTo(ready),
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
