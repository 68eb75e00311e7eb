import type { Payment } from '../contract/payment.ts';
import { isAmbiguous, payByIpn } from './case.ts';
import type { Shop } from './shop.ts';

/** If this many pending orders changed and could still be paid, the probe does not show harm. */
const MAX_FALSE_ALARMS = 3;
/** After this many harms, a changed order is enough to try a case again alone: a genuine IPN that does not pay takes long. */
const MAX_CONFIRMED = 3;

/** A paid and a pending order of other customers: no attack names them, and none may harm them. */
export class Bystanders {
  readonly #shop: Shop;
  #paid: Payment | undefined;
  #pending: { payment: Payment; text: string } | undefined;
  /** How many pending orders changed, and could still be paid by their IPN. */
  #falseAlarms = 0;
  /** What was done to them, in sentences. */
  readonly #harms: string[] = [];
  #queue: Promise<unknown> = Promise.resolve();

  /**
   * Begins with the order of the control, and the first that a case leaves unchanged. Has none if the number of orders is
   * limited, or if no probe tells them apart.
   */
  constructor(shop: Shop) {
    this.#shop = shop;
    const { canLook, hasOrders, control, orders } = shop;
    const canWatch = canLook && hasOrders && control !== null && !orders.areLimited;
    if (canWatch && !isAmbiguous(shop, control.payment)) this.#paid = control.payment;
    else this.#falseAlarms = MAX_FALSE_ALARMS;
  }

  /** How often one was harmed. */
  get harms(): number {
    return this.#harms.length;
  }

  /** What was done to them since they had been harmed `count` times; undefined if nothing was. */
  async harmSince(count: number): Promise<string | undefined> {
    const looked = this.#queue.then(() => this.#look());
    this.#queue = looked.catch(() => {});
    await looked;
    return this.#harms[count];
  }

  /** Watches no order any more: they are also harmed if no request is sent. */
  ignore(): void {
    this.#paid = undefined;
    this.#pending = undefined;
    this.#falseAlarms = MAX_FALSE_ALARMS;
  }

  async #look(): Promise<void> {
    const shop = this.#shop;
    const [paid, pending] = [this.#paid, this.#pending];
    if (paid && !(await shop.look(paid)).paid) {
      this.#harms.push(`After it, the paid order "${paid.identifier}" of another customer is not paid.`);
      this.#paid = await this.#newlyPaid();
    }
    if (!pending) {
      const isBlind = this.#falseAlarms >= MAX_FALSE_ALARMS;
      const { payment, text } = (isBlind ? undefined : shop.orders.takeUntouched()) ?? {};
      if (payment && text !== undefined) this.#pending = { payment, text };
      return;
    }
    const { payment, text } = pending;
    const after = await shop.look(payment);
    if (shop.isSame(text, after.text)) return;
    this.#pending = undefined;
    const isPaid = after.paid === true;
    if (shop.isPaying(payment)) return;
    const isSuspicious = !shop.isAlone && this.#harms.length >= MAX_CONFIRMED;
    if (!isPaid && !isSuspicious && (await payByIpn(shop, payment)).isPaid) {
      this.#falseAlarms++;
      return;
    }
    const harm = isPaid ? 'is paid' : 'cannot be paid by its genuine IPN';
    this.#harms.push(`After it, the unpaid order "${payment.identifier}" of another customer ${harm}.`);
    // The unchanged orders may be harmed, too, and there may be none left.
    shop.orders.allowAnother();
    using order = await shop.takeOrder();
    if (order) this.#pending = { payment: order.payment, text: (await shop.look(order.payment)).text };
  }

  async #newlyPaid(): Promise<Payment | undefined> {
    using order = await this.#shop.takeOrder();
    const isPaid = order && (await payByIpn(this.#shop, order.payment)).isPaid;
    return isPaid ? order?.payment : undefined;
  }
}
