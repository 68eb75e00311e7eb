import { onTestFinished } from 'vitest';
import type { StartOptions } from '../../src/options/table.ts';
import { type Handler, startShop } from '../merchants/node-shop.ts';
import { run } from './cli.ts';
import { temporaryFolder } from './folder.ts';
import { startSim } from './sim.ts';

/** Not the default key, with which an audit skips a case. */
export const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

/**
 * Starts an emulator, and a shop for it to audit.
 *
 * @param changed steps of the handler to replace
 * @param path where the shop initiates its payments
 */
export async function startAuditable(
  options: StartOptions = {},
  changed: Partial<Handler> = {},
  path = '/sandbox/payment/initiate',
) {
  const sim = await startSim({ secretKey: SECRET, ...options });
  const { url, publicKey, secretKey } = sim;
  const keys = { publicKey, secretKey, initiateUrl: url + path };
  const shop = await startShop(keys, changed);
  onTestFinished(() => shop[Symbol.asyncDispose]());
  /** The fields of the form on the audit page. */
  const asked = {
    ipnUrl: shop.ipnUrl,
    orderUrl: `${shop.url}/order`,
    orderMethod: 'POST',
    probeUrl: `${shop.url}/orders/{identifier}`,
    paidWhen: '.status=paid',
    orderAmount: '.total',
  };
  return { sim, shop, asked };
}

/** Starts an emulator and a shop, and returns a function that audits it with the command line. */
export async function startAudited(changed: Partial<Handler> = {}) {
  const { sim, shop, asked } = await startAuditable({}, changed, '/payment/initiate');
  const cwd = await temporaryFolder();
  const options = { cwd, env: { GATEWAY_SIM_URL: sim.url } };
  const byUrl = ['--order-url', asked.orderUrl, '--probe-url', asked.probeUrl];
  const paidWhen = ['--paid-when', asked.paidWhen];
  return {
    ...{ sim, shop, options, byUrl, paidWhen },
    audit: (args: readonly string[] = [], by: readonly string[] = byUrl) =>
      run(['audit', shop.ipnUrl, ...by, ...paidWhen, ...args], options),
  };
}
