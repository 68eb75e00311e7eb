import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { EXPECTED_SIGNATURE } from '../../src/contract/signature.ts';

const KEY = 'sec_sim_a_key_of_tests';
const FIELDS = { identifier: 'Bestellung-Ä', amount: '49.90' };
const EXPECTED = createHmac('sha256', KEY)
  .update(FIELDS.amount + FIELDS.identifier)
  .digest('hex')
  .toUpperCase();

/** A program around the line that is shown: it reads what the line uses, and prints what the line computes. */
const PROGRAMS = {
  PHP: [
    'php',
    '-r',
    `$secretKey = getenv('KEY'); $_POST = ['data' => ['amount' => getenv('AMOUNT')], 'identifier' => getenv('IDENTIFIER')]; ${EXPECTED_SIGNATURE.PHP} echo $expected;`,
  ],
  Node: [
    process.execPath,
    '-e',
    `const { createHmac } = require('node:crypto'); const { KEY: secretKey, AMOUNT: amount, IDENTIFIER: identifier } = process.env; const body = { data: { amount }, identifier }; ${EXPECTED_SIGNATURE.Node} console.log(expected);`,
  ],
  Python: [
    'python3',
    '-c',
    `import hmac, os\nsecret_key = os.environ['KEY']\nform = {'data[amount]': os.environ['AMOUNT'], 'identifier': os.environ['IDENTIFIER']}\n${EXPECTED_SIGNATURE.Python}\nprint(expected)`,
  ],
} as const;

for (const [language, [command, ...args]] of Object.entries(PROGRAMS)) {
  const isHere = spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

  test.skipIf(!isHere)(`the line of ${language} that is shown computes the signature`, () => {
    const env = { ...process.env, KEY, AMOUNT: FIELDS.amount, IDENTIFIER: FIELDS.identifier };
    expect(execFileSync(command, args, { env, encoding: 'utf8' }).trim()).toBe(EXPECTED);
  });
}
