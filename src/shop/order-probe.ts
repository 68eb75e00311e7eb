import type { DiagnoseInput } from '../contract/diagnosis.ts';
import { usage } from '../contract/error.ts';
import type { Database } from '../database/database.ts';
import type { Egress } from '../delivery/egress.ts';
import { type NamedPayment, valuesOf } from './command.ts';
import { asRowCondition, readCondition, urlProbe } from './probe.ts';
import { Witness } from './witness.ts';

/**
 * A function that tells whether the shop shows an order as paid; undefined without a condition.
 *
 * @param database the shop's database, which shows the order if no address does
 * @throws GatewayError `usage`
 */
export async function orderProbe(
  { probeUrl, paidWhen }: Pick<DiagnoseInput, 'probeUrl' | 'paidWhen'>,
  payment: NamedPayment,
  egress: Egress,
  database: Database | undefined,
): Promise<(() => Promise<boolean>) | undefined> {
  const isByRows = probeUrl === undefined && database !== undefined;
  if ((probeUrl === undefined) !== (paidWhen === undefined) && !(isByRows && paidWhen !== undefined)) {
    throw usage('--paid-when needs --probe-url, or an emulator with --db; and --probe-url needs --paid-when');
  }
  if (paidWhen === undefined) return undefined;
  const isPaid = readCondition(isByRows ? asRowCondition(paidWhen) : paidWhen);
  const values = valuesOf(payment);
  const rows = isByRows ? new Witness(database) : undefined;
  await rows?.relate([values]);
  const probe = rows ? rows.look.bind(rows) : urlProbe(probeUrl ?? '', egress);
  return async () => isPaid((await probe(values)).text);
}
