import { createHmac } from 'node:crypto';
import { readCard } from '../../src/service/cards.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { CARD } from './records.ts';
import { enter, idOf, ORDER, type Sim, startSim } from './sim.ts';

/**
 * Starts an emulator with many records: payments in every state, one in seven with very long names and amounts, delivered
 * and failed IPNs, a verification code, a card, a fault, and a clock that was moved.
 */
export async function busySim(count = 12): Promise<{ sim: Sim; receiver: Receiver }> {
  const sim = await startSim({ ipnSchedule: ['8m'], paymentExpires: '30h', loose: true });
  const receiver = await startReceiver();
  const { payments, cards, checkout, clock, faults, merchants } = sim.server.parts;
  const outcomes = ['approve', 'approve', 'cancel', 'fail', 'expire'] as const;
  for (let number = 0; number < count; number++) {
    const isLong = number % 7 === 0;
    // Always two digits, for axe: it accepts a shortened identifier only if it is cut between words.
    const identifier = isLong ? `order-2026-11-22-of-the-second-shop-${number + 10}` : `order-${number}`;
    const path = isLong ? '/webhooks/payments/of-the-second-shop/gateway/ipn' : '/ipn';
    const order = {
      ...ORDER,
      identifier,
      ipn_url: (number % 3 ? receiver.url : 'http://127.0.0.1:9') + path,
      amount: isLong ? '12345678901234567890.12' : '49.90',
      customer_name: isLong ? 'Margaret Elaine Heafield Hamilton of Boston' : 'Ada',
    };
    // Long amounts would exceed the wallet's balance.
    await sim.initiate(order, number % 2 || isLong ? 'sandbox' : 'live');
    const outcome = number < (count * 5) / 6 ? outcomes[number % 5] : undefined;
    if (outcome) await payments.settle(identifier, { outcome, by: 'control', awaitDelivery: true });
  }
  await checkout.enterEmail(payments.require(`order-${count - 2}`), 'wallet@example.com');
  const card = await cards.issue(merchants.default, readCard({ fields: CARD, text: '' }));
  await cards.move(card.id, 'charge', { amount: '12.50', details: 'Coffee' });
  await clock.move({ advance: '1m' });
  faults.set({ route: 'cards', status: 503, times: 2 });
  return { sim, receiver };
}

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="32"><circle cx="16" cy="16" r="14" fill="#7c3aed"/><text x="38" y="22" font-family="sans-serif" font-size="18" font-weight="bold" fill="#7c3aed">Papyrus</text></svg>';

/**
 * A shop with a common mistake: it signs `49.9` for an amount of `49.90`. `isFixed` returns whether the mistake is
 * fixed.
 */
export function startNaiveShop(secretKey: () => string, isFixed = () => false): Promise<Receiver> {
  return startReceiver(({ method, body }) => {
    if (method === 'GET') return { headers: { 'content-type': 'image/svg+xml' }, body: LOGO };
    const form = new URLSearchParams(body);
    const amount = form.get('data[amount]') ?? '';
    const text = `${isFixed() ? amount : Number(amount)}${form.get('identifier')}`;
    const computed = createHmac('sha256', secretKey()).update(text).digest('hex').toUpperCase();
    const isRight = form.get('signature') === computed;
    return isRight ? { body: 'OK' } : { status: 400, body: `bad signature, expected ${computed}` };
  });
}

/** Pays on the checkout's pages without a browser, after a wrong e-mail and a wrong code. @returns the payment's id */
export async function payWithMistakes(sim: Sim, order: Readonly<Record<string, string>>): Promise<string> {
  const checkout = await sim.initiate({ ...ORDER, ...order });
  await fetch(checkout);
  const entries = [
    ['email', 'nobody@shop.test'],
    ['email', 'test_mode@mail.com'],
    ['code', '111111'],
    ['code', '222666'],
  ] as const;
  for (const [step, value] of entries) await enter(checkout, step, { [step]: value });
  return idOf(checkout);
}
