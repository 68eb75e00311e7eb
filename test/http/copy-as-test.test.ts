import fc from 'fast-check';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';
import type { DeliveryOrder, PaymentOutcome } from '../../src/contract/vocabulary.ts';
import type { Payment } from '../../src/domain/state.ts';
import { playwrightText, vitestText } from '../../src/http/test-texts/javascript.ts';
import { phpunitText } from '../../src/http/test-texts/php.ts';
import { testStoryOf } from '../../src/http/test-texts/test-story.ts';
import type { StartOptions } from '../../src/options/table.ts';
import { character } from '../helpers/characters.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

async function storyOf(sim: Sim, change: Partial<Payment> = {}) {
  const payment = sim.server.parts.payments.require('order-1');
  return testStoryOf({ ...payment, ...change }, sim.server.parts);
}

/** The tests of a payment. A parser checks the JavaScript. */
async function textsOf(sim: Sim, change?: Partial<Payment>) {
  const story = await storyOf(sim, change);
  const texts = { vitest: vitestText(story), playwright: playwrightText(story), phpunit: phpunitText(story) };
  for (const text of [texts.vitest, texts.playwright]) parseAst(text);
  return texts;
}

async function initiated(options: StartOptions = {}): Promise<Sim> {
  const receiver = await startReceiver();
  const sim = await startSim(options);
  await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
  return sim;
}

describe('a payment as a test', () => {
  it('expects no redirect if an imported state has an invalid URL', async () => {
    const sim = await initiated();
    const { payments } = sim.server.parts;
    const { payment } = await payments.settle('order-1', { outcome: 'approve', by: 'customer' });
    const at = payment.createdAt;
    const redirected = { at, event: 'redirected', value: 'nowhere' } as const;
    for (const change of [{ history: [...payment.history, redirected] }, { successUrl: 'nowhere' }])
      expect((await textsOf(sim, change)).playwright).not.toContain('waitForRequest');
  });

  it.each<[PaymentOutcome, DeliveryOrder | undefined, RegExp, RegExp]>([
    ['approve', undefined, /payments\.approve\(id, \{ awaitDelivery: true \}\)/, /toHaveLength\(1\)/],
    ['approve', 'ipn-twice', /payments\.approve\(id, \{ delivery: 'ipn-twice'/, /toHaveLength\(2\)/],
    ['cancel', undefined, /payments\.cancel\(id/, /redirectUrl\)\.toBe\('http:\/\/localhost:4\/canceled'\)/],
    ['fail', undefined, /payments\.fail\(id/, /status\)\.toBe\('failed'\)/],
    ['expire', undefined, /payments\.expire\(id/, /redirectUrl\)\.toBe\(null\)/],
  ])('settles the payment the same way (%s, %s)', async (outcome, delivery, how, expected) => {
    const sim = await initiated();
    await sim.server.parts.payments.settle('order-1', {
      outcome,
      delivery,
      by: 'control',
      awaitDelivery: true,
    });
    const { vitest, playwright, phpunit } = await textsOf(sim);
    for (const text of [vitest, playwright]) {
      expect(text).toMatch(how);
      expect(text).toMatch(expected);
    }
    expect(phpunit).toContain(`'outcome' => '${outcome}'`);
  });

  it('expects a pending payment to stay pending, and an automatic settlement to happen', async () => {
    const sim = await initiated();
    expect((await textsOf(sim)).vitest).toContain(
      "expect((await sim.payments.get(id)).status).toBe('pending');",
    );
    const { vitest, phpunit } = await textsOf(sim, { status: 'succeeded', settledBy: 'auto' });
    expect(vitest).toContain("payments.waitFor({ identifier: 'order-1', status: 'succeeded' }");
    expect(phpunit).toContain('It settles automatically.');
  });

  it('has the relevant options, and no secret', async () => {
    const sim = await initiated({ ipnSchedule: ['1h'], secretKey: 'sec_very_secret_0123456789' });
    const { vitest, phpunit } = await textsOf(sim);
    expect(vitest).toContain("ipnSchedule: ['1h'],");
    expect(phpunit).toContain("exec --ipn-schedule '1h' -- vendor/bin/phpunit");
    expect(vitest + phpunit).not.toContain('very_secret');
  });

  it("repeats the customer's steps in the checkout, including back and cancel", async () => {
    const sim = await initiated();
    const at = '2026-01-01T00:00:00.000Z';
    const change: Partial<Payment> = {
      status: 'canceled',
      settledBy: 'customer',
      history: [
        { at, event: 'email_entered', value: 'test_mode@mail.com' },
        { at, event: 'email_refused', value: "it's (me)", problem: 'email_not_test' },
        { at, event: 'email_entered', value: 'test_mode@mail.com' },
        { at, event: 'settled', value: 'canceled' },
        { at, event: 'redirected', value: 'http://localhost:4/canceled' },
      ],
    };
    const { playwright } = await textsOf(sim, change);
    const acts = playwright.match(/(?<=await page\.)getBy(Label|Role).*(?=;)/g);
    expect(acts).toEqual([
      "getByLabel('E-mail').fill('test_mode@mail.com')",
      "getByLabel('E-mail').press('Enter')",
      "getByRole('button', { name: 'Change e-mail' }).click()",
      "getByLabel('E-mail').fill('it\\'s (me)')",
      "getByLabel('E-mail').press('Enter')",
      "getByLabel('E-mail').fill('test_mode@mail.com')",
      "getByLabel('E-mail').press('Enter')",
      "getByRole('button', { name: 'Cancel' }).click()",
    ]);
  });

  it('can be parsed with any text in the payment', async () => {
    const sim = await initiated();
    const text = fc.string({ unit: character, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (identifier, details, customerName) => {
        await textsOf(sim, { identifier, details, customerName });
      }),
      { numRuns: IS_RELEASE ? 50 : 15 },
    );
  });
});
