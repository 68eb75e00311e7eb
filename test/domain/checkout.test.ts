import { describe, expect, it } from 'vitest';
import { CODE_LIFETIME_MS, stepOf } from '../../src/contract/checkout.ts';
import { timestamp } from '../../src/contract/time.ts';
import { changeEmail, codeProblem, enterEmail, rejectCode, resendCode } from '../../src/domain/checkout.ts';
import type { Message, Payment, State } from '../../src/domain/state.ts';
import { applied, context, NOW, pendingPayment, state, wallet } from '../helpers/records.ts';

const using = context();

function sandbox() {
  const held = state();
  return { held, payment: pendingPayment(held) };
}

/** A live payment whose customer has entered an e-mail, and the message with the code. */
function liveWithCode(email = 'wallet@example.com'): { held: State; payment: Payment; message: Message } {
  const held = state();
  const { id } = pendingPayment(held, { mode: 'live' }, using);
  applied(held, enterEmail(held, stored(held, id), email, using));
  return { held, payment: stored(held, id), message: messageOf(held, stored(held, id)) };
}

function stored(held: State, id: string): Payment {
  const payment = held.payments.get(id);
  if (!payment) throw new Error(`no payment ${id}`);
  return payment;
}

function messageOf(held: State, payment: Payment): Message {
  const message = held.messages.get(payment.messageId ?? '');
  if (!message) throw new Error('no message');
  return message;
}

describe('the e-mail in the sandbox', () => {
  it.each(['test_mode@mail.com', 'TEST_Mode@Mail.Com', '  test_mode@mail.com\n'])('may be %j', (given) => {
    const { held, payment } = sandbox();
    const outcome = enterEmail(held, payment, given, using);
    expect(outcome.result).toBeNull();
    expect(outcome.change.messages).toBeUndefined();
    applied(held, outcome);
    expect(stored(held, payment.id)).toMatchObject({ payerEmail: given.trim(), messageId: null });
    expect(stepOf(stored(held, payment.id))).toBe('code');
  });

  it.each([
    ['wallet@example.com', 'email_not_test', 'wallet@example.com'],
    ['not an address', 'email_invalid', 'not an address'],
    ['', 'email_invalid', ''],
    ['x'.repeat(5_000), 'email_invalid', 'x'.repeat(320)],
  ])('%j is rejected as %s, recorded in the history, and can be entered again', (given, problem, value) => {
    const { held, payment } = sandbox();
    expect(applied(held, enterEmail(held, payment, given, using))).toBe(problem);
    const after = stored(held, payment.id);
    expect(after).toMatchObject({ status: 'pending', payerEmail: null });
    const at = '2026-01-15T10:30:00.123Z';
    expect(after.history).toEqual([{ at, event: 'email_refused', value, problem }]);
  });
});

describe('the e-mail in live mode', () => {
  it('is accepted if its wallet has enough balance, and a code is sent in the same change', () => {
    const { payment, message } = liveWithCode('Wallet@Example.com');
    expect(payment).toMatchObject({ payerEmail: 'Wallet@Example.com', messageId: message.id });
    expect(message).toMatchObject({
      paymentId: payment.id,
      identifier: 'order-1',
      email: 'Wallet@Example.com',
      sentAt: '2026-01-15T10:30:00.123Z',
      expiresAt: '2026-01-15T10:40:00.123Z',
    });
    expect(message.code).toMatch(/^\d{6}$/);
    expect(payment.history.map(({ event }) => event)).toEqual(['email_entered', 'code_sent']);
  });

  it.each([
    ['nobody@example.com', 'wallet_unknown'],
    ['test_mode@mail.com', 'wallet_unknown'],
    ['poor@example.com', 'balance_too_small'],
    ['nobody', 'email_invalid'],
  ])('%j is rejected as %s, and no code is sent', (given, problem) => {
    const held = state();
    const payment = pendingPayment(held, { mode: 'live' });
    const outcome = enterEmail(held, payment, given, using);
    expect(outcome.result).toBe(problem);
    expect(outcome.change.messages).toBeUndefined();
    expect(outcome.change.payments?.[0]).toMatchObject({ payerEmail: null, status: 'pending' });
  });

  it('must have a wallet in the currency of the payment', () => {
    const held = state();
    const euros = pendingPayment(held, { mode: 'live', currency: 'EUR', amount: '50.5' });
    expect(enterEmail(held, euros, 'wallet@example.com', using).result).toBeNull();
    expect(enterEmail(held, euros, 'poor@example.com', using).result).toBe('wallet_unknown');
  });

  it.each([
    ['1000', null],
    ['1000.00000000', null],
    ['1000.00000001', 'balance_too_small'],
  ])(
    'must have a wallet with enough balance: 1000 for an amount of %s has the problem %s',
    (amount, problem) => {
      const held = state();
      const payment = pendingPayment(held, { mode: 'live', amount });
      expect(enterEmail(held, payment, 'wallet@example.com', using).result).toBe(problem);
    },
  );
});

describe('the code in live mode', () => {
  it('must be the code that was sent, with or without spaces, and not the sandbox code', () => {
    const { held, payment, message } = liveWithCode();
    const spaced = `${message.code.slice(0, 3)} ${message.code.slice(3)}`;
    expect(codeProblem(held, payment, message.code, using)).toBeNull();
    expect(codeProblem(held, payment, spaced, using)).toBeNull();
    expect(codeProblem(held, payment, '222666', using)).toBe('code_wrong');
    expect(codeProblem(held, payment, '', using)).toBe('code_wrong');
  });

  it.each([
    [0, null],
    [CODE_LIFETIME_MS - 1, null],
    [CODE_LIFETIME_MS, 'code_expired'],
  ])('%i ms after it was sent has the problem %s', (later, problem) => {
    const { held, payment, message } = liveWithCode();
    expect(codeProblem(held, payment, message.code, context({}, NOW + later))).toBe(problem);
  });

  it('is reported as wrong even if the correct code has expired', () => {
    const { held, payment } = liveWithCode();
    expect(codeProblem(held, payment, 'x', context({}, NOW + CODE_LIFETIME_MS))).toBe('code_wrong');
  });

  it('is replaced by a resent code, which is valid for ten minutes', () => {
    const { held, payment, message } = liveWithCode();
    const later = { ...using, now: NOW + CODE_LIFETIME_MS - 1 };
    applied(held, resendCode(payment, later));
    const after = stored(held, payment.id);
    const fresh = messageOf(held, after);
    expect(fresh.id).not.toBe(message.id);
    expect(codeProblem(held, after, message.code, later)).toBe('code_wrong');
    expect(codeProblem(held, after, fresh.code, later)).toBeNull();
    expect(codeProblem(held, after, fresh.code, context({}, NOW + CODE_LIFETIME_MS))).toBeNull();
    expect(held.messages.size).toBe(2);
  });

  it('of another payment is rejected', () => {
    const { held, payment } = liveWithCode();
    const { id } = pendingPayment(held, { mode: 'live' }, using);
    applied(held, enterEmail(held, stored(held, id), 'wallet@example.com', using));
    const other = messageOf(held, stored(held, id));
    expect(codeProblem(held, payment, other.code, using)).toBe('code_wrong');
  });

  it('is rejected if the balance is now too small or the wallet is gone', () => {
    const { held, payment, message } = liveWithCode();
    held.apply({ wallets: [wallet({ balance: '99.99' })] });
    expect(codeProblem(held, payment, message.code, using)).toBe('balance_too_small');
    held.apply({ wallets: [wallet({ email: 'moved@example.com' })] });
    expect(codeProblem(held, payment, message.code, using)).toBe('wallet_unknown');
  });

  it('is recorded in the history if rejected, and the payment stays pending', () => {
    const { payment } = liveWithCode();
    const { result, change } = rejectCode(payment, ' 111 111', 'code_wrong', using);
    expect(result).toBe('code_wrong');
    const [after] = change.payments ?? [];
    expect(after?.status).toBe('pending');
    expect(after?.history.at(-1)).toMatchObject({ event: 'code_refused', value: '111 111', problem: result });
  });

  it('is locked after five wrong entries, even with a full history, and a new code allows five again', () => {
    const { held, payment, message } = liveWithCode();
    const full = { at: timestamp(NOW), event: 'opened', value: null } as const;
    held.apply({ payments: [{ ...payment, history: Array.from({ length: 100 }, () => full) }] });
    const refuse = () => applied(held, rejectCode(stored(held, payment.id), '111111', 'code_wrong', using));
    for (let tries = 1; tries < 5; tries++) {
      expect(refuse()).toBe('code_wrong');
      expect(codeProblem(held, stored(held, payment.id), message.code, using)).toBeNull();
    }
    expect(refuse()).toBe('code_spent');
    const after = stored(held, payment.id);
    expect(codeProblem(held, after, message.code, using)).toBe('code_spent');
    expect(codeProblem(held, after, 'x', using)).toBe('code_spent');
    applied(held, resendCode(after, using));
    const fresh = stored(held, payment.id);
    expect(codeProblem(held, fresh, messageOf(held, fresh).code, using)).toBeNull();
    expect(refuse()).toBe('code_wrong');
  });

  it('is not locked by entries that fail for another reason', () => {
    const { payment } = liveWithCode();
    const { change } = rejectCode({ ...payment, wrongCodes: 4 }, '111111', 'code_expired', using);
    expect(change.payments?.[0]?.wrongCodes).toBe(4);
  });

  it('stops working if the customer goes back to the e-mail step', () => {
    const { held, payment, message } = liveWithCode();
    applied(held, changeEmail(payment));
    const after = stored(held, payment.id);
    expect(stepOf(after)).toBe('email');
    expect(codeProblem(held, after, message.code, using)).toBe('code_wrong');
  });
});
