import { GatewayError } from '../../contract/error.ts';
import {
  type AuditCase,
  attack,
  BAD_IPNS,
  fail,
  family,
  NO_ORDERS,
  PAYS_OTHER_ORDERS,
  passesWith,
  payByIpn,
  type Run,
  rejected,
  rejects,
  send,
  sentText,
  skipped,
  type Target,
  withOrder,
} from '../case.ts';
import { swapCase, UNKNOWN_ORDER } from '../ipn.ts';
import { curlsOf } from '../request-text.ts';
import type { Shop } from '../shop.ts';
import { guessedAddress } from './sandbox.ts';

/*
 * An IPN pays its own order and no other.
 */

type MakeUrl = (target: Target) => string;

type Change = (identifier: string) => string | readonly string[];

const almost = (change: Change, urlOf: MakeUrl): Run =>
  rejects((target) => {
    const { payment, ipn, shop } = target;
    const changed = [change(payment.identifier)].flat().filter((one) => one !== payment.identifier);
    if (!changed.length) return 'the identifier has no letter to change';
    return changed.map((one) => {
      const { form } = ipn.set('identifier', one).signedWith(shop.gateway.secretKey);
      return { url: urlOf(target), body: form };
    });
  });

/**
 * Genuine IPNs for identifiers that are almost the same as the order's. If one pays the order only at the address with
 * the order's own token, nobody else can send it.
 */
const nearly = (change: Change): Run => {
  const atItsAddress = almost(change, ({ shop, payment }) => shop.addressOf(payment));
  return passesWith(atItsAddress, async (shop) => {
    const finding = await atItsAddress(shop);
    if (finding.verdict !== 'fail') return finding;
    const guessed = await almost(change, (target) => guessedAddress(target).url)(shop);
    if (guessed.verdict !== 'pass') return guessed;
    const why =
      'Your shop finds an order by an identifier that is not exactly its own. The token in its ipn_url keeps others from using that.';
    return { ...finding, verdict: 'note', why };
  });
};

/** From an ASCII character to its wide form. */
const TO_FULL_WIDTH = 0xfee0;

const ACCENTED: Readonly<Record<string, string>> = {
  a: 'á',
  c: 'ç',
  e: 'é',
  i: 'í',
  n: 'ñ',
  o: 'ó',
  u: 'ú',
  y: 'ý',
  z: 'ž',
};

const FORGET_UNKNOWN = {
  text: 'An IPN for an identifier that is not one of your orders must change nothing, and must not be remembered.',
};

/** The identifiers that a counter gives to the next orders. */
function followingIdentifiers(identifier: string): string[] {
  const [, head = '', tail = ''] = /^(.*?)(\d{1,15})$/s.exec(identifier) ?? [];
  return tail === ''
    ? []
    : [1, 2, 3].map((step) => head + String(Number(tail) + step).padStart(tail.length, '0'));
}

/** Whether the probe reports an order as paid that nobody placed. It must tell orders apart by nothing but the identifier. */
async function isPaidUnknown(shop: Shop): Promise<boolean> {
  const { control, probes, witness } = shop;
  if (!control || !probes.probe || probes.distinguishes || witness) return false;
  const unknown = { ...control.payment, id: '', identifier: UNKNOWN_ORDER };
  const { paid } = await shop.look(unknown).catch((error: unknown) => {
    // Most shops have no such order.
    if (error instanceof GatewayError) return { paid: false };
    throw error;
  });
  return paid === true;
}

export const IDENTIFIER: readonly AuditCase[] = family({
  class: 'E',
  group: 'order',
  harm: PAYS_OTHER_ORDERS,
  mistake: 'order-not-by-identifier',
})({
  'other-ipn-to-order-url': {
    about: "The genuine IPN of the attacker's own payment, sent to the order's ipn_url.",
    run: rejects(({ shop, payment }) => shop.attackerIpn(payment)),
  },
  'transaction-reused': {
    about: "The attacker's signature and payment_trx with the identifier and amount of the order.",
    run: rejects(async ({ shop, payment, ipn }) => {
      const own = await shop.attackerIpn(payment);
      return ipn.set('signature', own.get('signature')).set('trx', own.get('trx'));
    }),
    mistake: 'signature-not-checked',
  },
  'transaction-of-order': {
    about: "The attacker's own genuine IPN with the payment_trx of the order, which is not signed.",
    run: rejects(async ({ shop, payment, ipn }) =>
      (await shop.attackerIpn(payment)).set('trx', ipn.get('trx')),
    ),
  },
  'other-paid-order': {
    about: "The genuine IPN of another paid order, sent to this order's ipn_url.",
    run: withOrder(async (target) => {
      const { shop, payment } = target;
      using other = await shop.takeAnother();
      if (!other) return skipped(NO_ORDERS);
      const paid = other.payment;
      if (paid.identifier === payment.identifier) return skipped('both orders have the same identifier');
      await shop.pay(paid);
      return await attack(target, shop.ipnOf(paid), rejected(target));
    }),
  },
  'identifier-unknown': {
    about: 'A genuine IPN for an identifier that the shop never issued.',
    run: async (shop) => {
      const finding = await rejects(({ payment }) => shop.attackerIpn(payment, UNKNOWN_ORDER))(shop);
      const isMade = finding.verdict === 'pass' && (await isPaidUnknown(shop));
      const why = `Your shop now has a paid order "${UNKNOWN_ORDER}", which nobody placed.`;
      return isMade ? { ...finding, ...fail(why) } : finding;
    },
    // A shop that falls back to its newest order shows this only while no other case places orders.
    alone: 'disturbs',
  },
  'identifier-of-next-order': {
    state: 'no order has this identifier; after it, place the next order',
    about: 'IPNs that must not pay, for the next identifiers, before the order with one of them is placed.',
    run: async (shop) => {
      using second = await shop.takeOrder();
      const known = shop.orders.made.at(-1);
      if (!second || !known || shop.orders.areLimited) return skipped(NO_ORDERS);
      second.isUntouched = true;
      const next = followingIdentifiers(known.identifier);
      const isSequential = shop.orders.made.some(({ identifier }) =>
        followingIdentifiers(identifier).includes(known.identifier),
      );
      const nothing = { sent: null, observed: 'nobody can name an order before it is placed', curl: null };
      if (!isSequential) return { ...nothing, verdict: 'pass' };
      const requests = next.flatMap((identifier) => {
        const payment = {
          ...known,
          identifier,
          ipnUrl: known.ipnUrl.replaceAll(known.identifier, identifier),
        };
        const ipn = shop.ipnOf(payment);
        const forged = BAD_IPNS.map((change) => change(ipn, shop.gateway.secretKey));
        return forged.map(shop.postOf(payment));
      });
      for (const request of requests) await shop.try(request, known);
      using order = await shop.takeAnother();
      const shown = { sent: sentText(shop, requests), curl: curlsOf(requests) };
      if (!order || !next.includes(order.payment.identifier)) return { ...nothing, verdict: 'pass' };
      const { paid } = await shop.lookAfterRest(order.payment);
      return paid
        ? {
            ...shown,
            ...fail('The order was paid as soon as it was placed.', { fix: FORGET_UNKNOWN }),
            observed: 'the order is paid',
          }
        : { ...shown, verdict: 'pass', observed: 'the order is not paid' };
    },
    harm: 'Anyone who guesses the identifier of a future order can have it paid by a forged IPN.',
    alone: 'disturbs',
  },
  'identifier-case': {
    about: 'A genuine IPN for the identifier in a different letter case.',
    run: nearly(swapCase),
  },
  'identifier-spaces': {
    about: 'Genuine IPNs for the identifier with white space before or after it.',
    run: nearly((text) => [`${text} `, ` ${text}`, `${text}\t`, `${text}\n`, `${text}\u00a0`, `${text}\0`]),
  },
  'identifier-prefix': {
    about: 'Genuine IPNs for the identifier with something before it, such as a zero.',
    run: nearly((text) => [`0${text}`, `x${text}`, `x-${text}`, `./${text}`, `x/../${text}`]),
  },
  'identifier-suffix': {
    about: 'Genuine IPNs for the identifier with something after it, such as -2 or a letter.',
    run: nearly((text) => ['x', '-2', '_2', '/2', '.0', 'e0', ':2', '|2'].map((end) => text + end)),
  },
  'identifier-part': {
    about: 'Genuine IPNs for identifiers that only begin, or end, like that of the order.',
    run: nearly((text) => [
      text.slice(0, Math.ceil(text.length / 2)).padEnd(text.length, 'z'),
      text.slice(Math.floor(text.length / 2)).padStart(text.length, 'z'),
      `${text.slice(0, -1)}z`,
      `z${text.slice(1)}`,
    ]),
  },
  'identifier-shortened': {
    about:
      'Genuine IPNs for identifiers that are a part of that of the order, such as P4 for P45: they pay only the orders that have them.',
    run: withOrder(async (target) => {
      const { shop, payment, ipn } = target;
      const { identifier } = payment;
      const shorter = [identifier.slice(0, -1), identifier.slice(1), identifier.slice(0, -2)].filter(Boolean);
      const others = shop.orders.made.filter((other) => shorter.includes(other.identifier));
      for (const other of shop.holdsBack ? [] : others) await payByIpn(shop, other);
      const unknown = shorter.filter((one) => !others.some((other) => other.identifier === one));
      const forged = unknown.map((one) => ipn.set('identifier', one).signedWith(shop.gateway.secretKey));
      for (const one of forged.slice(0, -1)) await send(target, one);
      const last = forged.at(-1) ?? ipn.badlySigned();
      const finding = await attack(target, last, rejected(target));
      const paying = others.map((other) => shop.postOf(other)(shop.ipnOf(other)));
      const requests = [...paying, ...forged.map(target.post)];
      return { ...finding, sent: sentText(shop, requests), curl: curlsOf(requests) };
    }),
    last: true,
  },
  'identifier-accent': {
    about:
      'Genuine IPNs for the identifier with an accented letter or a wide character, which some databases treat as the plain one.',
    run: nearly((text) => [
      text.replace(/[aceinouyz]/i, (letter) => ACCENTED[letter.toLowerCase()] ?? letter),
      text.replace(/[a-z\d]/i, (letter) => String.fromCodePoint(letter.charCodeAt(0) + TO_FULL_WIDTH)),
    ]),
  },
  'identifier-wildcard': {
    about: 'Genuine IPNs for the identifier with its end replaced by a wildcard, such as % or .*.',
    run: rejects(({ payment: { identifier }, ipn, shop }) =>
      ['_', '%', '.', '*', '.*', '?']
        .map((end) => identifier.slice(0, -1) + end)
        .map((pattern) => ipn.set('identifier', pattern).signedWith(shop.gateway.secretKey)),
    ),
  },
});
