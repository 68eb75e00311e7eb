import {
  type AuditCase,
  family,
  PAYS_BY_ANY_STATUS,
  PAYS_FOR_LESS,
  PAYS_OTHER_ORDERS,
  rejects,
  type Target,
} from '../case.ts';
import { hundredth, type Ipn } from '../ipn.ts';
import { OTHER_TRANSPORTS } from '../transports.ts';

/*
 * A handler that reads IPNs in several ways may compare less in one of them. With a form, each of these has cases of its
 * own.
 */

/** A currency that no shop has. */
const UNKNOWN_CURRENCY = 'XTS';

/** Validly signed IPNs that must not pay an order. */
interface WrongContent extends Pick<AuditCase, 'class' | 'group' | 'harm' | 'mistake'> {
  about: string;
  ipns: (target: Target) => readonly Ipn[] | Promise<readonly Ipn[]>;
}

const CONTENTS: Readonly<Record<string, WrongContent>> = {
  amount: {
    about: 'Validly signed IPNs for a hundredth of the price, and in another currency',
    class: 'D',
    group: 'amount',
    harm: PAYS_FOR_LESS,
    mistake: 'amount-not-compared',
    ipns: ({ ipn, shop }) => [
      ipn.set('amount', hundredth(ipn.get('amount'))).signedWith(shop.gateway.secretKey),
      ipn.set('currency', UNKNOWN_CURRENCY),
    ],
  },
  status: {
    about: 'A validly signed IPN with status "failed"',
    class: 'H',
    group: 'status',
    harm: PAYS_BY_ANY_STATUS,
    mistake: 'status-not-checked',
    ipns: ({ ipn }) => [ipn.set('status', 'failed')],
  },
  order: {
    about: "The genuine IPN of the attacker's own payment, sent to the order's ipn_url",
    class: 'E',
    group: 'order',
    harm: PAYS_OTHER_ORDERS,
    mistake: 'order-not-by-identifier',
    ipns: async ({ shop, payment }) => [await shop.attackerIpn(payment)],
  },
};

export const TRANSPORT: readonly AuditCase[] = Object.entries(CONTENTS).flatMap(
  ([name, { about, ipns, ...common }]) =>
    family(common)({
      [`${name}-other-transport`]: {
        about: `${about}, in each transport but a form: ${Object.values(OTHER_TRANSPORTS)
          .map((transport) => transport.about)
          .join(', ')}.`,
        run: rejects(
          async (target) => {
            const all = await ipns(target);
            return Object.values(OTHER_TRANSPORTS).flatMap(({ send }) =>
              all.map((ipn) => send(ipn.fields, target)),
            );
          },
          { isSigned: true },
        ),
      },
    }),
);
