import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { signatureCode } from '../../src/diagnosis/signature-code.ts';
import { runProgram } from '../helpers/child.ts';
import { type Language, missing } from '../merchants/running.ts';

const KEY = 'sec_sim_a_key_of_tests';
const FIELDS = { identifier: 'Bestellung-Ä', amount: '49.90' };
const EXPECTED = createHmac('sha256', KEY)
  .update(FIELDS.amount + FIELDS.identifier)
  .digest('hex')
  .toUpperCase();

/** A program around each documented line: it sets the line's variables and prints the result. */
const PROGRAMS = {
  PHP: [
    'php',
    '-r',
    `$secretKey = getenv('KEY'); $_POST = ['data' => ['amount' => getenv('AMOUNT')], 'identifier' => getenv('IDENTIFIER')]; ${signatureCode().PHP} echo $expected;`,
  ],
  Node: [
    process.execPath,
    '-e',
    `const { createHmac } = require('node:crypto'); const { KEY: secretKey, AMOUNT: amount, IDENTIFIER: identifier } = process.env; const body = { data: { amount }, identifier }; ${signatureCode().Node} console.log(expected);`,
  ],
  Python: [
    'python3',
    '-c',
    `import hmac, os\nsecret_key = os.environ['KEY']\nform = {'data[amount]': os.environ['AMOUNT'], 'identifier': os.environ['IDENTIFIER']}\n${signatureCode().Python}\nprint(expected)`,
  ],
} as const;

for (const [language, command] of Object.entries(PROGRAMS)) {
  const why = missing(language.toLowerCase() as Language);

  test.skipIf(why)(
    `the documented line of ${language} computes the signature${why ? ` (${why})` : ''}`,
    async () => {
      const env = { KEY, AMOUNT: FIELDS.amount, IDENTIFIER: FIELDS.identifier };
      expect((await runProgram(command, { env })).stdout.trim()).toBe(EXPECTED);
    },
  );
}
