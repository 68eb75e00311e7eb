import { OBEYED_BY_TERMINALS } from '../contract/curl.ts';
import { PAYMENT_OUTCOMES, type PaymentStatus } from '../contract/vocabulary.ts';
import type { Payment } from '../domain/state.ts';
import type { MerchantDialect } from '../wire/dialect.ts';

/** The outcomes that every helper of `init` has. */
const OUTCOMES: Partial<Record<PaymentStatus, 'approve' | 'cancel' | 'fail'>> = {
  succeeded: 'approve',
  canceled: 'cancel',
  failed: 'fail',
};

/**
 * A payment as a test in each language: it initiates and settles the same payment, and checks the redirect and the IPN.
 * A payment that is pending or expired has none, nor has one with characters that an editor may hide.
 */
export function testsOf(payment: Payment, dialect: MerchantDialect) {
  const outcome = OUTCOMES[payment.status];
  if (outcome === undefined) return [];
  const { status, mode } = payment;
  const values = dialect.initiateFields.map((name) => [name, payment[name as keyof Payment]] as const);
  const fields = Object.fromEntries(values.flatMap(([name, value]) => (value ? [[name, `${value}`]] : [])));
  const { form = {} } = dialect.initiate(mode, fields);
  if (Object.values(form).some((value) => value.search(OBEYED_BY_TERMINALS) >= 0)) return [];
  const name = `payment ${payment.identifier}: ${status}`;
  const redirect = payment[PAYMENT_OUTCOMES[outcome].redirect];
  const isIpnSent = status === 'succeeded';
  return [
    {
      runner: 'Vitest',
      file: 'payment.test.mjs',
      text: `import { startGatewaySim } from "gateway-sim";
import { afterAll, beforeAll, expect, test } from "vitest"; // not in Jest

// Your shop must be running with these keys. \`npx gateway-sim keys env\` prints them.
const { GATEWAY_SIM_PUBLIC_KEY: publicKey, GATEWAY_SIM_SECRET_KEY: secretKey } = process.env;
let sim;
beforeAll(async () => {
  sim = await startGatewaySim({ publicKey, secretKey });
});
afterAll(() => sim?.stop());

test(${literal(name)}, async () => {
  const { id } = await sim.payments.create({
${listed({ ...fields, mode }, (field, value) => `    ${field}: ${literal(value)},`)}
  });
  const settled = await sim.payments.${outcome}(id, { awaitDelivery: true });
  expect(settled.redirectUrl).toBe(${literal(redirect)});
${isIpnSent ? '  await sim.ipns.assertDelivered(id);\n' : ''}});
`,
    },
    {
      runner: 'PHPUnit',
      file: 'PaymentTest.php',
      text: `<?php

use PHPUnit\\Framework\\TestCase;

require_once __DIR__ . '/GatewaySim.php'; // written by: npx gateway-sim init --php

final class PaymentTest extends TestCase
{
    // Your shop must be running with the keys that \`npx gateway-sim keys env\` prints.
    public function testPayment(): void
    {
        $sim = GatewaySim::start();
        $order = $sim->initiate([
${listed(form, (field, value) => `            '${field}' => ${phpLiteral(value)},`)}
        ]);
        $settled = $sim->${outcome}($order['id']);
        $this->assertSame(${phpLiteral(redirect)}, $settled['redirectUrl']);
${isIpnSent ? '        $sim->assertDelivered($order);\n' : ''}    }
}
`,
    },
    {
      runner: 'pytest',
      file: 'test_payment.py',
      text: `from gateway_sim import gateway_sim  # written by: npx gateway-sim init --python


# Your shop must be running with the keys that \`npx gateway-sim keys env\` prints.
def test_payment(gateway_sim):
    order = gateway_sim.initiate({
${listed(form, (field, value) => `        "${field}": ${literal(value)},`)}
    })
    settled = gateway_sim.${outcome}(order["id"])
    assert settled["redirectUrl"] == ${literal(redirect)}
${isIpnSent ? '    gateway_sim.assert_delivered(order)\n' : ''}`,
    },
  ];
}

function listed(
  fields: Readonly<Record<string, string>>,
  write: (name: string, value: string) => string,
): string {
  return Object.entries(fields)
    .map(([name, value]) => write(name, value))
    .join('\n');
}

/** A string as source of JavaScript and of Python. */
const literal = (value: string) => JSON.stringify(value);

/** A string as PHP source, which may contain line breaks. */
const phpLiteral = (value: string) => `'${value.replace(/[\\']/g, '\\$&')}'`;
