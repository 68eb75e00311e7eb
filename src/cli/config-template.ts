import { SENT_ON_REQUEST } from '../contract/outcomes.ts';
import { type OptionName, type OptionSpec, START_OPTIONS } from '../options/table.ts';

export const CONFIGURATION_FILE = 'gateway-sim.config.json';
export const FIXTURES_FILE = 'gateway-sim.fixtures.json';

/** Examples in the template for options that have neither a default nor an example in the table. */
const EXAMPLES: Readonly<Partial<Record<string, unknown>>> = {
  fixtures: FIXTURES_FILE,
  keep: 1_000,
  publicUrl: 'https://pay.example.test',
  publicKey: 'pub_sim_example_not_a_real_key',
  secretKey: 'sec_sim_example_not_a_real_key',
  tlsCert: 'localhost.pem',
  tlsKey: 'localhost-key.pem',
  hostAlias: ['pay.example.com'],
  currency: ['NPR:Rs', 'GHS:₵'],
  auto: 'approve',
  seed: 'any text',
  paymentExpires: '30m',
  ipnRetries: 3,
  ipnOn: SENT_ON_REQUEST,
  forwardIpn: 'http://localhost:3000/ipn',
  allowIpnHost: ['shop.example.com'],
  allowHost: ['pay.example.test'],
  ipnCa: 'ca.pem',
  controlToken: 'a-long-secret',
  choices: { siteLogo: 'optional' },
  charges: { payment: { percent: '2', fixed: '0' }, card: { percent: '1' }, cardTransaction: { fixed: '0' } },
  currencies: [{ code: 'KES', name: 'Kenyan Shilling', symbol: 'KSh', decimals: 2 }],
  faults: [{ route: 'initiate', status: 503, times: 2 }],
  outcomes: [{ identifier: 'fail-*', outcome: 'fail' }],
  wallets: [{ email: 'rich@example.com', holder: 'Rich Example', currency: 'EUR', balance: '5000.00' }],
} satisfies Partial<Record<OptionName, unknown>>;

const HEAD = `// Options of "gateway-sim start" in this folder. Comments and trailing commas are allowed.
// Each key is also a flag (dataDir: --data-dir) and, unless its value is a structure, a variable
// (GATEWAY_SIM_DATA_DIR). Flags override variables, which override this file, the profile and the defaults.
// Lines that start with // have no effect. They show the default, or an example if there is none.`;

/**
 * A configuration file with every option and its description. All but the fixtures are commented out.
 *
 * @param schema the path of the JSON schema for editors; undefined if the package is not installed
 */
export function configurationTemplate(schema: string | undefined): string {
  const reference = `"$schema": ${JSON.stringify(schema ?? './node_modules/gateway-sim/fixtures/config.schema.json')},`;
  const entries = Object.entries<OptionSpec>(START_OPTIONS).map(([name, spec]) => {
    const [example = spec.choices?.[0] ?? null] = [spec.json?.['examples'] ?? []].flat();
    const value = spec.default ?? EXAMPLES[name] ?? example;
    const line = `${JSON.stringify(name)}: ${inOneLine(value)},`;
    return `  // ${spec.description}\n  ${name === 'fixtures' ? '' : '// '}${line}\n`;
  });
  const head =
    schema === undefined
      ? `  // If the package is installed, this enables completion in editors:\n  // ${reference}\n`
      : `  ${reference}\n`;
  return `${HEAD}\n{\n${[head, ...entries].join('\n')}}\n`;
}

/** JSON with a space after each comma and colon, so that a line stays readable. */
function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${inOneLine(field)}`);
  return `{ ${fields.join(', ')} }`;
}
