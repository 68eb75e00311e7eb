import { onTestFinished } from 'vitest';
import type { StartOptions } from '../../src/options/table.ts';
import { type Handler, startShop } from '../merchants/node-shop.ts';
import { startSim } from './sim.ts';

/** A key of its own: with the one that every fresh emulator has, a case is skipped. */
const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

/**
 * An emulator, and a shop to be audited by it.
 *
 * @param changed the steps of the handler that are not as they should be
 */
export async function startAuditable(options: StartOptions = {}, changed: Partial<Handler> = {}) {
  const sim = await startSim({ secretKey: SECRET, ...options });
  const { url, publicKey, secretKey } = sim;
  const keys = { publicKey, secretKey, initiateUrl: `${url}/sandbox/payment/initiate` };
  const shop = await startShop(keys, changed);
  onTestFinished(() => shop[Symbol.asyncDispose]());
  /** What the form of the page is given. */
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
