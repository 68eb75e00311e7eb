import { START_OPTIONS } from '../../options/table.ts';
import { javaScriptText, javaScriptValue, type TestStory } from './test-story.ts';

/*
 * Writes a payment as a test in JavaScript. The test starts a new emulator and uses the developer's running receiver.
 */

export function vitestText(story: TestStory): string {
  return lines(
    "import { startGatewaySim } from 'gateway-sim';",
    "import { afterAll, beforeAll, expect, test } from 'vitest';",
    '',
    ...emulator(story, ''),
    '',
    `test(${nameOf(story)}, async () => {`,
    ...indented([...created(story, 'id'), ...settled(story), ...delivered(story)]),
    '}, 60_000);',
  );
}

/** A test for Playwright that repeats the customer's steps in the checkout. */
export function playwrightText(story: TestStory): string {
  const walks = story.entries.length > 0 || isCanceledByCustomer(story);
  return lines(
    "import { expect, test } from '@playwright/test';",
    "import { startGatewaySim } from 'gateway-sim';",
    '',
    ...emulator(story, 'test.'),
    '',
    `test(${nameOf(story)}, async ({ page }) => {`,
    ...indented([
      'test.setTimeout(60_000);',
      ...created(story, 'id, checkoutUrl'),
      'await page.goto(checkoutUrl);',
      ...(walks ? walked(story) : settled(story)),
      ...delivered(story),
    ]),
    '});',
  );
}

const lines = (...all: string[]) => `${all.join('\n')}\n`;
const indented = (all: readonly string[]) => all.map((line) => (line === '' ? '' : `  ${line}`));

function nameOf({ payment }: TestStory): string {
  return javaScriptText(`payment ${payment.identifier}: ${payment.status}`);
}

function emulator({ options, ipns }: TestStory, prefix: '' | 'test.'): string[] {
  return [
    '// Your receiver must run and check signatures with these keys: `gateway-sim keys env` prints them.',
    'const { GATEWAY_SIM_PUBLIC_KEY: publicKey, GATEWAY_SIM_SECRET_KEY: secretKey } = process.env;',
    '',
    'let sim;',
    `${prefix}beforeAll(async () => {`,
    '  sim = await startGatewaySim({',
    '    publicKey,',
    '    secretKey,',
    ...Object.entries(options).map(([name, value]) => `    ${name}: ${javaScriptValue(value)},`),
    '  });',
    '});',
    `${prefix}afterAll(() => sim?.stop());`,
    ...(ipns.length ? ANSWERS : []),
  ];
}

const ANSWERS = [
  '',
  '/** The status of the response to each attempt. */',
  'async function answers(id) {',
  '  const { attempts } = await sim.ipns.get(id);',
  '  return attempts.map(({ responseStatus }) => responseStatus);',
  '}',
];

function created({ fields }: TestStory, names: string): string[] {
  return [
    `const { ${names} } = await sim.payments.create({`,
    ...Object.entries(fields).map(([name, value]) => `  ${name}: ${javaScriptText(value)},`),
    '});',
  ];
}

function settled({ payment, outcome, order, redirectUrl }: TestStory): string[] {
  const { status, settledBy } = payment;
  if (outcome === null) return [`expect((await sim.payments.get(id)).status).toBe('${status}');`];
  if (settledBy === 'auto') {
    const wanted = `{ identifier: ${javaScriptText(payment.identifier)}, status: '${status}' }`;
    return ['// It settles automatically.', `await sim.payments.waitFor(${wanted}, { timeout: '30s' });`];
  }
  const how = order === undefined ? '' : `delivery: '${order}', `;
  return [
    `const settled = await sim.payments.${outcome}(id, { ${how}awaitDelivery: true });`,
    `expect(settled.payment.status).toBe('${status}');`,
    ...(redirectUrl === undefined
      ? []
      : [`expect(settled.redirectUrl).toBe(${javaScriptValue(redirectUrl)});`]),
  ];
}

const isCanceledByCustomer = ({ payment }: TestStory) =>
  payment.settledBy === 'customer' && payment.status === 'canceled';

function walked(story: TestStory): string[] {
  const { entries, payment, redirectUrl } = story;
  let step: 'email' | 'code' = 'email';
  const steps = entries.flatMap(({ field, value, passes }) => {
    const isLast = field === 'code' && passes;
    const back = step === 'code' && field === 'email' ? [CHANGE_EMAIL] : [];
    if (isLast && isCanceledByCustomer(story)) return [];
    step = field === 'email' && !passes ? 'email' : 'code';
    const label = field === 'email' ? 'E-mail' : 'Verification code';
    return [
      ...back,
      `await page.getByLabel('${label}').fill(${value === null ? codeOf(story) : javaScriptText(value)});`,
      ...(isLast ? [leaving(redirectUrl)] : []),
      `await page.getByLabel('${label}').press('Enter');`,
      ...(passes ? [] : ["await expect(page.getByRole('alert')).toBeVisible();"]),
    ];
  });
  const cancel = [leaving(redirectUrl), "await page.getByRole('button', { name: 'Cancel' }).click();"];
  return [
    ...steps,
    ...(isCanceledByCustomer(story) ? cancel : []),
    ...(redirectUrl ? ['await left;'] : []),
    `await expect.poll(async () => (await sim.payments.get(id)).status).toBe('${payment.status}');`,
  ].filter(Boolean);
}

const CHANGE_EMAIL = "await page.getByRole('button', { name: 'Change e-mail' }).click();";

function codeOf({ payment, options }: TestStory): string {
  if (payment.mode === 'live') return '(await sim.inbox.waitFor({ payment: id })).code';
  return javaScriptText(String(options['sandboxCode'] ?? START_OPTIONS.sandboxCode.default));
}

/** Waits for the request only, because the shop's page is not under test. */
function leaving(redirectUrl: string | null | undefined): string {
  if (!redirectUrl) return '';
  const address = new URL(redirectUrl).href.split('#', 1)[0] ?? '';
  return `const left = page.waitForRequest((request) => request.url() === ${javaScriptText(address)});`;
}

function delivered({ ipns }: TestStory): string[] {
  return [
    '',
    'const { data } = await sim.ipns.list({ payment: id });',
    `expect(data).toHaveLength(${ipns.length});`,
    ...(ipns.length
      ? [`const [${ipns.map((_, index) => `ipn${index + 1}`).join(', ')}] = data.reverse();`]
      : []),
    ...ipns.flatMap(({ state, attempts }, index) => {
      const ipn = `ipn${index + 1}.id`;
      const statuses = attempts.map(({ status }) => status);
      return [
        ...attempts.flatMap(({ by }, number) => [
          ...TRIGGERS[by](ipn),
          `await expect.poll(() => answers(${ipn}), { timeout: 15_000 }).toEqual(${javaScriptValue(statuses.slice(0, number + 1))});`,
        ]),
        `expect((await sim.ipns.get(${ipn})).state).toBe('${state}');`,
      ];
    }),
  ];
}

const TRIGGERS = {
  first: () => [],
  retry: (ipn: string) => [
    '// The retry: move the clock to its time.',
    `await sim.clock.freeze((await sim.ipns.get(${ipn})).nextAttemptAt);`,
  ],
  resend: (ipn: string) => ['// Resent by hand.', `await sim.ipns.resend(${ipn});`],
};
