import { onTestFinished } from 'vitest';
import type { AuditOptions } from '../../src/audit/audit-options.ts';
import type { AuditReport } from '../../src/audit/report.ts';
import { connectGatewaySim, type GatewaySimClient } from '../../src/index.ts';
import { auditReport } from '../../src/library/client.ts';
import { controlServer } from '../../src/library/control-client.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { usePublicKey } from '../merchants/mutants.ts';
import { type Handler, SECRET, type Shop, startShop } from '../merchants/node-shop.ts';
import { run } from './cli.ts';
import { temporaryFolder } from './folder.ts';
import { startClient } from './library.ts';
import { openSim, startSim } from './sim.ts';

/** The report on a shop with this handler, and the shop. Several can run at the same time. */
export async function auditOf(
  changed: Partial<Handler>,
  options: Partial<AuditOptions> | ((shop: Shop, sim: GatewaySimClient) => Partial<AuditOptions>),
): Promise<AuditReport & { shop: Shop; sim: GatewaySimClient }> {
  await using opened = await openSim({ secretKey: SECRET });
  const sim = await connectGatewaySim(opened.url);
  usePublicKey(sim.publicKey);
  await using shop = await startShop(sim, changed);
  const probing = { probe: shop.probe, paidWhen: '.status=paid', orderAmount: '.total' };
  const more = typeof options === 'function' ? options(shop, sim) : options;
  const all = { ipnUrl: shop.ipnUrl, order: shop.place, ...probing, ...more };
  const report = await auditReport(sim, controlServer(sim), all);
  return { ...report, shop, sim };
}

/** An emulator, a shop, and a function that audits it. */
export async function prepareAudit(changed: Partial<Handler> = {}, more: StartOptions = {}) {
  const sim = await startClient({ secretKey: SECRET, ...more });
  const shop = await startShop(sim, changed);
  onTestFinished(() => shop[Symbol.asyncDispose]());
  const probing = { probe: shop.probe, paidWhen: '.status=paid', orderAmount: '.total' };
  const audit = (options: Partial<AuditOptions> = {}) =>
    auditReport(sim, controlServer(sim), { ipnUrl: shop.ipnUrl, order: shop.place, ...probing, ...options });
  return { sim, shop, audit };
}

/** Starts an emulator and a shop, and returns a function that audits it with the command line. */
export async function startAudited(changed: Partial<Handler> = {}) {
  const sim = await startSim({ secretKey: SECRET });
  const { url, publicKey, secretKey } = sim;
  const shop = await startShop({ publicKey, secretKey, initiateUrl: `${url}/payment/initiate` }, changed);
  onTestFinished(() => shop[Symbol.asyncDispose]());
  const cwd = await temporaryFolder();
  const options = { cwd, env: { GATEWAY_SIM_URL: url } };
  const probeUrl = `${shop.url}/orders/{identifier}`;
  const byUrl = ['--order-url', `${shop.url}/order`, '--probe-url', probeUrl];
  const paidWhen = ['--paid-when', '.status=paid'];
  return {
    ...{ sim, shop, options, byUrl, paidWhen },
    audit: (args: readonly string[] = [], by: readonly string[] = byUrl) =>
      run(['audit', shop.ipnUrl, ...by, ...paidWhen, ...args], options),
  };
}
