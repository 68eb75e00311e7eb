import { describe, expect, it, test } from 'vitest';
import type { CheckoutProblem } from '../../../src/contract/checkout.ts';
import { DELIVERY_ORDERS, OUTCOMES, PAYMENT_STATUSES } from '../../../src/contract/vocabulary.ts';
import {
  type CheckoutView,
  type ClosedView,
  checkoutPage,
  closedPage,
  type LiveTip,
  type PaymentSummary,
} from '../../../src/http/pages/checkout.tsx';
import { pageOf, postForm } from '../../helpers/forms.ts';
import { idOf, ORDER, type Sim, startSim } from '../../helpers/sim.ts';

const PATH = '/sandbox/initiate/payment/checkout';
const STEPS = ['email', 'code'] as const;
const LANGUAGES = ['en', 'fr'] as const;

const PAYMENT: PaymentSummary = {
  id: 'pay_1',
  mode: 'sandbox',
  status: 'succeeded',
  merchantName: 'Demo Store',
  siteLogo: 'https://shop.test/logo.png',
  details: 'Two coffees',
  amount: '$100.00',
  identifier: 'order-1',
  receipt: null,
};

const PANEL = { defaultDelivery: 'ipn-then-redirect', dashboard: '/_sim/ui/payments/pay_1' } as const;

interface CheckoutChanges extends Partial<Omit<CheckoutView, 'payment'>> {
  payment?: Partial<PaymentSummary>;
}

function checkout({ payment, ...changes }: CheckoutChanges = {}): string {
  return checkoutPage({
    language: 'en',
    theme: 'light',
    nonce: 'nonce-1',
    base: '',
    step: 'email',
    payment: { ...PAYMENT, ...payment },
    path: PATH,
    page: 'page-1',
    value: '',
    email: changes.step === 'code' ? 'test_mode@mail.com' : '',
    problem: null,
    resent: false,
    sandbox: { email: 'test_mode@mail.com', code: '222666' },
    tip: null,
    panel: PANEL,
    ...changes,
  });
}

function live(changes: CheckoutChanges = {}): string {
  return checkout({ ...changes, payment: { mode: 'live', ...changes.payment }, sandbox: null });
}

function closed(changes: Partial<ClosedView> = {}): string {
  return closedPage({
    language: 'en',
    theme: 'light',
    nonce: 'nonce-1',
    base: '',
    payment: PAYMENT,
    backUrl: 'https://shop.test/back?a=1&b=2',
    dashboard: null,
    ...changes,
  });
}

/** A page's forms by the last part of their action, or `fill` for the form that is sent by GET. */
function forms(html: string): Record<string, string> {
  const found = [...html.matchAll(/<form [^>]*method="(\w+)" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)];
  return Object.fromEntries(
    found.map(([form, method, action]) => [
      method === 'get' ? 'fill' : (/\/(\w+)\?/.exec(action ?? '')?.[1] ?? ''),
      form,
    ]),
  );
}

function form(html: string, name: string): string {
  const found = forms(html)[name];
  if (found === undefined) throw new Error(`the page has no form ${name}`);
  return found;
}

/** The labels of all buttons, in order. */
function buttons(html: string): string[] {
  return [...html.matchAll(/<button[^>]*>(.*?)<\/button>/gs)].map(([, name]) => name ?? '');
}

test.each([
  ['a step', checkout({ problem: 'email_invalid', value: 'x' })],
  ['a closed page', closed()],
])('%s says that this is an emulator, and runs one short script', (_, html) => {
  expect(html).toMatch(/<header class="mark"><strong>gateway-sim<\/strong>: local emulator, no real money/);
  const scripts = [...html.matchAll(/<script nonce="nonce-1">(.*?)<\/script>/gs)];
  expect(scripts.length).toBeLessThanOrEqual(1);
  for (const [, script = ''] of scripts) expect(script.length).toBeLessThanOrEqual(400);
});

describe('a checkout step', () => {
  test.each([
    {
      language: 'en',
      step: 'email',
      label: 'E-mail',
      submit: 'Continue',
      hints: ['type="email"', 'inputmode="email"', 'autocomplete="email"'],
    },
    {
      language: 'en',
      step: 'code',
      label: 'Verification code',
      submit: 'Pay $100.00',
      hints: ['type="text"', 'inputmode="numeric"', 'autocomplete="one-time-code"'],
    },
    { language: 'fr', step: 'email', label: 'E-mail', submit: 'Continuer', hints: [] },
    { language: 'fr', step: 'code', label: 'Code de vérification', submit: 'Payer $100.00', hints: [] },
  ] as const)('$step is one form with one labeled field and one button ($language)', (shown) => {
    const { language, step, label, submit, hints } = shown;
    const main = form(checkout({ language, step }), step);
    const fields = main.match(/<input[^>]*>/g) ?? [];
    expect(fields).toHaveLength(1);
    const plain = ['autocapitalize="off"', 'autocorrect="off"', 'spellcheck="false"'];
    for (const hint of [`id="${step}"`, `name="${step}"`, ...plain, ...hints])
      expect(fields[0]).toContain(hint);
    expect(main).toContain(`<label for="${step}">${label}</label>`);
    expect(main).toContain(' novalidate');
    expect(main).toContain('<button type="submit"');
    expect(buttons(main)).toEqual([submit]);
  });

  test.each(STEPS)('%s has one button named Cancel, in a form without fields', (step) => {
    const [html = ''] = live({ step }).split('</main>');
    expect(buttons(html).filter((name) => /cancel/i.test(name))).toEqual(['Cancel']);
    expect(form(html, 'cancel')).not.toContain('<input');
  });

  test("posts below the checkout's path, with the page and the encoded id", () => {
    const html = checkout({ payment: { id: 'pay&"1' } });
    for (const name of ['email', 'cancel', 'panel']) {
      const action = `${PATH}/${name}?payment_id=pay%26%221&amp;page=page-1`;
      expect(form(html, name)).toContain(`method="post" action="${action}"`);
    }
  });

  test('opens a keyboard with letters if the test code has letters', () => {
    const html = checkout({ step: 'code', sandbox: { email: 'a@b.test', code: 'letmein' } });
    expect(form(html, 'code')).toContain('inputmode="text"');
  });

  test('shows on the code step who pays, and lets the customer change the e-mail', () => {
    const back = form(checkout({ step: 'code', email: 'a@b.test' }), 'back');
    expect(back).toContain('<strong dir="auto">a@b.test</strong>');
    expect(buttons(back)).toEqual(['Change e-mail']);
    expect(forms(checkout())).not.toHaveProperty('back');
  });

  test('offers a new code only in live mode', () => {
    expect(buttons(form(live({ step: 'code' }), 'resend'))).toEqual(['Send a new code']);
    expect(forms(checkout({ step: 'code' }))).not.toHaveProperty('resend');
    expect(forms(live())).not.toHaveProperty('resend');
  });

  test('confirms that a new code was sent', () => {
    const html = live({ step: 'code', resent: true });
    expect(html).toMatch(/role="status" id="sent">We sent a new code/);
    expect(html).toContain('aria-describedby="sent code-hint"');
    expect(live({ step: 'code' })).not.toContain('role="status"');
  });

  test.each(STEPS)('%s focuses its field, with or without a problem', (step) => {
    for (const problem of [null, 'email_invalid'] as const) {
      expect(checkout({ step, problem }).match(/<[^>]* autofocus=""[^>]*>/g)).toEqual([
        expect.stringContaining(`id="${step}"`),
      ]);
    }
  });

  test.each(STEPS)('%s has no id that shadows the name of a field', (step) => {
    for (const html of [checkout({ step }), live({ step })]) {
      const named = [...html.matchAll(/aria-label(ledby)?="([^"]*)"/g)].map(([, , name]) => name);
      expect(named.join()).toMatch(/Step \d of 2/);
      expect(named.join()).not.toMatch(/e-mail|verification code/i);
    }
  });

  test.each(['light', 'dark'] as const)('has the %s theme that the merchant requested', (theme) => {
    const html = checkout({ theme });
    expect(html).toContain(`<html lang="en" class="${theme}">`);
    expect(html).toContain(`<meta name="color-scheme" content="${theme}"/>`);
  });

  test.each(STEPS)('%s is smaller than 16 KB', (step) => {
    const tip: LiveTip = { about: 'code', code: '482913', command: 'npx gateway-sim inbox' };
    for (const html of [checkout({ step }), live({ step, tip })])
      expect(Buffer.byteLength(html)).toBeLessThan(16 * 1_024);
  });

  test('keeps the amount on one line, and breaks a long one between its groups', () => {
    expect(checkout()).toContain('<span class="amount">$100.00</span>');
    const long = checkout({ payment: { amount: '99,999,999,999,999,999,999.12345678\u00a0cfa' } });
    expect(long).toContain('<span class="amount long">99,<wbr/>999,<wbr/>999,');
  });
});

describe('a problem', () => {
  const problems: [CheckoutProblem, (typeof STEPS)[number]][] = [
    ['email_invalid', 'email'],
    ['email_not_test', 'email'],
    ['wallet_unknown', 'email'],
    ['balance_too_small', 'email'],
    ['code_wrong', 'code'],
    ['code_expired', 'code'],
    ['code_spent', 'code'],
    ['wallet_unknown', 'code'],
    ['balance_too_small', 'code'],
  ];
  const text = {
    email: { en: '(This|The) e-mail ', fr: 'Cet e-mail (est|a|ne?|n’est|correspond) ' },
    code: {
      en: '(This|The) verification code ',
      fr: 'Le code de vérification (est|a|ne?|n’est|correspond) ',
    },
  };

  test.each(problems)(
    '%s on the %s step is announced in a sentence, describes the field, and keeps the input',
    (problem, step) => {
      for (const language of LANGUAGES) {
        const main = form(checkout({ language, step, problem, value: 'kept' }), step);
        const sentence = `${text[step][language]}[^<]*\\.</p>`;
        expect(main).toMatch(new RegExp(`<p [^>]*role="alert" id="${step}-problem">${sentence}`));
        expect(main).toContain('aria-invalid="true"');
        expect(main).toContain(`aria-describedby="${step}-problem ${step}-hint"`);
        expect(main).toContain('value="kept"');
      }
    },
  );

  test('is in the title, too, which screen readers read first', () => {
    expect(checkout({ problem: 'email_invalid' })).toContain(
      '<title>Error: Pay $100.00 to Demo Store · Step 1 of 2</title>',
    );
    expect(checkout({ step: 'code' })).toContain('<title>Pay $100.00 to Demo Store · Step 2 of 2</title>');
  });

  test('is not announced if there is none', () => {
    expect(checkout()).not.toMatch(/role="alert"| aria-invalid=/);
  });
});

describe('text from the merchant and the customer', () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror='x'>`;

  test.each(STEPS)('is escaped everywhere on the %s step', (step) => {
    const html = checkout({
      step,
      value: hostile,
      email: hostile,
      sandbox: { email: hostile, code: hostile },
      payment: { merchantName: hostile, details: hostile, identifier: hostile, amount: hostile, id: hostile },
    });
    expect(html).not.toMatch(/<script>alert|<img src=x/);
  });

  test('is escaped on closed pages', () => {
    const payment = { ...PAYMENT, merchantName: hostile, details: hostile, identifier: hostile };
    expect(closed({ payment, backUrl: `https://shop.test/${hostile}` })).not.toMatch(
      /<script>alert|<img src=x/,
    );
  });

  test("cannot escape from the logo's URL", () => {
    const html = checkout({ payment: { siteLogo: 'https://shop.test/"onerror="alert(1)' } });
    expect(html).toContain('<img src="https://shop.test/&quot;onerror=&quot;alert(1)" alt=""');
  });
});

describe('the logo', () => {
  test('is requested without a referrer, and a monogram replaces it if it does not load', () => {
    const html = checkout();
    expect(html).toContain('<img src="https://shop.test/logo.png" alt="" referrerpolicy="no-referrer"/>');
    expect(html).toContain('<span class="monogram">D</span>');
  });

  test.each([
    ['épicerie', 'É'],
    ['  «1001» nuits', '1'],
    ['', '•'],
    ['😀', '•'],
  ])('is by default the monogram of %j: %s', (merchantName, monogram) => {
    const html = checkout({ payment: { siteLogo: null, merchantName } });
    expect(html).not.toContain('<img');
    expect(html).toContain(`<span class="monogram">${monogram}</span>`);
  });
});

describe('the sandbox', () => {
  test.each([
    ['email', 'test_mode@mail.com', 'Use test e-mail', 'name="email" value="test_mode@mail.com"'],
    ['code', '222666', 'Fill in test code', 'name="fill" value="1"'],
  ] as const)('shows the test value on the %s step, and fills it in with a separate form', (...given) => {
    const [step, value, button, field] = given;
    const html = checkout({ step });
    expect(html).toContain('<strong>Test mode.</strong>');
    expect(html).toContain(`<code>${value}</code>`);
    const [, notice = ''] = /<div class="notice">(.*?)<\/div>/s.exec(html) ?? [];
    expect(notice).toContain(`<input type="hidden" ${field}/>`);
    expect(buttons(notice)).toEqual([button]);
  });

  test.each(STEPS)('is not mentioned on the %s step in live mode', (step) => {
    expect(live({ step })).not.toMatch(/Test mode|Fill in|222666/);
  });
});

describe('the simulator panel', () => {
  test('is a separate region outside the page, with four outcomes and five delivery orders', () => {
    const html = checkout({ panel: { ...PANEL, defaultDelivery: 'ipn-twice' } });
    expect(html).toMatch(/<\/main><aside class="panel" aria-label="Simulator, not part of the page">/);
    const panel = form(html, 'panel');
    for (const outcome of OUTCOMES) expect(panel).toContain(`name="outcome" value="${outcome}"`);
    expect(buttons(panel)).toEqual(['Approve', 'Cancel', 'Fail', 'Expire']);
    expect([...panel.matchAll(/<option value="([^"]+)"/g)].map(([, order]) => order)).toEqual([
      ...DELIVERY_ORDERS,
    ]);
    expect(panel.match(/<option[^>]* selected[^>]*>/g)).toEqual(['<option value="ipn-twice" selected="">']);
  });
});

describe('right-to-left text', () => {
  test('keeps its own direction, and does not affect its surroundings', () => {
    const html = checkout({ payment: { merchantName: 'متجر (1)', details: 'كتاب' } });
    expect(html).toContain('Pay \u2068متجر (1)\u2069');
    expect(html).toContain('<dd dir="auto">كتاب</dd>');
    expect(checkout()).not.toContain('\u2068');
  });
});

test('a receipt shows the logo, the date, the transaction and who paid', () => {
  const receipt = { trx: 'TRX123456789', date: '2026-01-02 03:04:05 UTC', payer: 'ada@shop.test' };
  const html = closed({ payment: { ...PAYMENT, receipt } });
  expect(html).toContain('https://shop.test/logo.png');
  for (const [name, value] of [
    ['Date', receipt.date],
    ['Transaction', receipt.trx],
    ['Paid by', receipt.payer],
  ])
    expect(html).toContain(`<dt>${name}</dt><dd dir="auto">${value}</dd>`);
  expect(closed()).not.toContain('Paid by');
});

describe('a closed page', () => {
  test.each([
    ['succeeded', 'Payment complete', 'is complete. You will not be charged again.'],
    ['canceled', 'Payment canceled', 'was canceled.'],
    ['failed', 'Payment failed', 'This payment failed.'],
    ['expired', 'Payment expired', 'The time to pay has run out.'],
  ] as const)('of a %s payment shows the status', (status, title, text) => {
    const html = closed({ payment: { ...PAYMENT, status } });
    expect(html).toContain(`<h1>${title}</h1>`);
    expect(html).toContain(text);
    expect(html).toContain('$100.00');
    expect(html).not.toContain('<form');
  });

  test.each(LANGUAGES)('has a title and a text for every status in %s', (language) => {
    for (const status of PAYMENT_STATUSES)
      expect(closed({ language, payment: { ...PAYMENT, status } })).toMatch(/<\/h1><p>[^<]{10,}/);
  });
});

const CHECKOUT = '/initiate/payment/checkout';
const BROWSER = { accept: 'text/html' };

async function atCode(options = {}): Promise<{ sim: Sim; id: string }> {
  const sim = await startSim(options);
  const id = idOf(await sim.initiate(ORDER, 'live'));
  await postForm(sim, `${CHECKOUT}/email?payment_id=${id}`, { email: 'wallet@example.com' }, BROWSER);
  return { sim, id };
}

const enterForm = (html: string) => /<form class="tip enter".*?<\/form>/s.exec(html)?.[0];

describe('the code in the panel of a live checkout', () => {
  it('is the code that was sent, and its button pays', async () => {
    const { sim, id } = await atCode();
    const form = enterForm(await pageOf(sim, `${CHECKOUT}?payment_id=${id}`)) ?? '';
    const [message] = sim.server.parts.store.state.messages.values();
    const action = /action="([^"]+)"/.exec(form)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const code = /name="code" value="(\d+)"/.exec(form)?.[1] ?? '';
    expect(code).toBe(message?.code);
    const answer = await postForm(sim, action, { code }, BROWSER);
    expect([answer.status, answer.location]).toEqual([303, ORDER['success_url']]);
    expect(sim.server.parts.payments.require(id).status).toBe('succeeded');
  });

  it('is hidden before it is sent, and when it can no longer pay', async () => {
    const { sim, id } = await atCode();
    await sim.server.parts.clock.move({ advance: '11m' });
    const html = await pageOf(sim, `${CHECKOUT}?payment_id=${id}`);
    expect(enterForm(html)).toBeUndefined();
    expect(html).toContain('Read the code with');
    const fresh = await sim.initiate(ORDER, 'live');
    expect(enterForm(await (await fetch(fresh)).text())).toBeUndefined();
  });

  it('is hidden with --no-panel, which shows only the command to read it', async () => {
    const { sim, id } = await atCode({ panel: false });
    const [message] = sim.server.parts.store.state.messages.values();
    const html = await pageOf(sim, `${CHECKOUT}?payment_id=${id}`);
    expect(html).toMatch(/<input [^>]*name="code"/);
    expect(html).toMatch(/<\/main>.*<footer class="tip strip">.*Read the code with .*<span>npx<\/span> /s);
    expect(/<main.*<\/main>/s.exec(html)?.[0]).not.toContain('gateway-sim');
    expect(message?.code).toMatch(/^\d{6}$/);
    expect(html).not.toContain(message?.code);
  });
});

describe('the tip of a live payment before the e-mail is entered', () => {
  it('names a wallet that can pay, or the command to fund one', async () => {
    const sim = await startSim();
    const tipOf = async (amount: string) => {
      const page = await (await fetch(await sim.initiate({ ...ORDER, amount }, 'live'))).text();
      return (/<p class="tip">(.*?)<\/p>/s.exec(page)?.[1] ?? '')
        .replace(/<[^>]+>/g, '')
        .replace(/\s+/g, ' ');
    };
    expect(await tipOf('49.90')).toContain('wallet@example.com can pay this.');
    const [, wallet] = /wallets fund (\S+) --amount 99999999\.5\b/.exec(await tipOf('99999999.5')) ?? [];
    expect(sim.server.parts.store.state.wallets.get(wallet ?? '')?.currency).toBe('USD');
  });
});

it('a link to the dashboard is on the page of a pending, settled or unknown payment', async () => {
  const { sim, id } = await atCode();
  const checkout = `${CHECKOUT}?payment_id=${id}`;
  const link = `href="/_sim/ui/payments/${id}" target="_blank" rel="noopener">Open in the dashboard`;
  expect(await pageOf(sim, checkout)).toContain(link);
  await sim.server.parts.payments.settle(id, { outcome: 'cancel', by: 'control' });
  expect(await pageOf(sim, checkout)).toContain(link);
  expect(await pageOf(sim, `${CHECKOUT}?payment_id=none`)).toContain(
    'href="/_sim" target="_blank" rel="noopener">Open in the dashboard',
  );
});
