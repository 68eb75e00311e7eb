import { startGatewaySim } from '../../../src/index.ts';
import { seedOfTest } from '../../helpers/seed.ts';
import { SECRET } from '../node-shop.ts';
import { HANDLERS } from './list.ts';
import { VariedShop } from './shop.ts';

/**
 * The failures that the audit reports for a correct handler; there should be none.
 *
 * @param only default: all cases
 */
export async function falseAlarms(name: string, only?: readonly string[]): Promise<string[]> {
  const style = HANDLERS[name];
  if (!style) throw new Error(`there is no handler "${name}"`);
  await using sim = await startGatewaySim({ secretKey: SECRET, seed: seedOfTest() });
  await using shop = await new VariedShop(style, sim).start();
  const { cases } = await sim.audit({
    ...{ ipnUrl: shop.ipnUrl, order: () => shop.place(), probe: (identifier) => shop.probe(identifier) },
    ...{ paidWhen: '.status=paid', orderAmount: '.total', only },
  });
  const others = cases.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skipped');
  return others.map(
    ({ name: found, verdict, why, sent, observed }) => `${found} ${verdict}: ${why} (${sent}: ${observed})`,
  );
}
