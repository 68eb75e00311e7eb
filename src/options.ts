import { DURATION_PATTERN, parseDuration } from './contract/duration.ts';
import { type ErrorDetails, GatewayError, nearestName } from './contract/error.ts';
import type { JsonSchema } from './contract/field.ts';
import { kebab } from './contract/hint.ts';
import { DELIVERY_ORDERS, IPN_FORMATS } from './contract/vocabulary.ts';

/** What a value of an option looks like, and so how its text is read. */
export type OptionKind =
  | 'text'
  /** A key or token: it goes into a header. */
  | 'secret'
  | 'integer'
  | 'boolean'
  | 'choice'
  | 'list'
  | 'url'
  /** An address that paths are put behind. */
  | 'baseUrl'
  | 'duration'
  | 'structure';

/** One option of `start`: a flag, an environment variable and a key of the configuration file in one. */
export interface OptionSpec {
  kind: OptionKind;
  /** What stands behind the flag in the help. */
  placeholder?: string;
  choices?: readonly string[];
  min?: number;
  /** Of a number; of a secret: how many characters it may have. */
  max?: number;
  default?: string | number | boolean | readonly string[];
  /** About the process of `gateway-sim start`, not about the emulator in it: neither the library nor `exec` has it. */
  commandOnly?: true;
  description: string;
  /** What the JSON schema of the configuration knows of its values beside the kind. */
  json?: JsonSchema;
}

/**
 * Every option of `start` by its camelCase name. From this table come the flags and their help, the
 * environment variables, the keys of gateway-sim.config.json and, but for those of the command only, the options of
 * the library.
 */
export const START_OPTIONS = {
  port: {
    kind: 'integer',
    placeholder: 'number',
    min: 0,
    max: 65535,
    default: 4477,
    description: 'port to listen on; 0 takes a free one',
  },
  host: {
    kind: 'text',
    placeholder: 'address',
    default: '127.0.0.1',
    description:
      'address to listen on (127.0.0.1 also listens on ::1); any but a loopback one guards /_sim with the control token',
  },
  dataDir: {
    kind: 'text',
    placeholder: 'folder',
    default: '.gateway-sim',
    description: 'folder that keeps the state',
  },
  inMemory: { kind: 'boolean', default: false, description: 'keep nothing on disk' },
  fsync: {
    kind: 'boolean',
    default: false,
    description: 'wait for the disk itself before answering: survives power loss',
  },
  fixtures: {
    kind: 'text',
    placeholder: 'file',
    description:
      'state that a new data folder, one in memory and a reset start with (default: two wallets in every currency)',
  },
  publicUrl: {
    kind: 'baseUrl',
    placeholder: 'url',
    description: 'address under which browsers reach the emulator, for checkout URLs',
  },
  loose: {
    kind: 'boolean',
    default: false,
    description:
      'accept what many clients send against the interface: no site_logo, over-long values, lower-case currency',
  },
  errorStatus: {
    kind: 'choice',
    choices: ['ok', 'http'],
    default: 'ok',
    description: 'HTTP status of refused initiates: 200 as deployments do, or 422/401',
  },
  panel: { kind: 'boolean', default: true, description: 'show the simulator panel on the checkout' },
  sandboxEmail: {
    kind: 'text',
    placeholder: 'e-mail',
    default: 'test_mode@mail.com',
    description: 'e-mail that passes the sandbox checkout',
  },
  sandboxCode: {
    kind: 'text',
    placeholder: 'code',
    default: '222666',
    description: 'verification code that passes the sandbox checkout',
  },
  publicKey: {
    kind: 'secret',
    placeholder: 'key',
    max: 50,
    description: 'public key of the default merchant',
  },
  secretKey: {
    kind: 'secret',
    placeholder: 'key',
    max: 200,
    description: 'secret key of the default merchant',
  },
  currency: {
    kind: 'list',
    placeholder: 'CODE[:symbol]',
    description: 'one more currency, such as NPR:Rs; repeatable',
    json: { items: { type: 'string', pattern: '^[A-Z0-9]{2,4}(:.{0,8})?$' }, examples: [['NPR:Rs']] },
  },
  delivery: {
    kind: 'choice',
    placeholder: 'order',
    choices: DELIVERY_ORDERS,
    default: 'ipn-then-redirect',
    description: `order of IPN and redirect: ${DELIVERY_ORDERS.join(', ')}`,
  },
  auto: {
    kind: 'choice',
    placeholder: 'outcome',
    choices: ['approve', 'cancel', 'fail'],
    description: 'settle every payment by itself: approve, cancel or fail',
  },
  autoDelay: {
    kind: 'duration',
    placeholder: 'duration',
    default: '500ms',
    description: 'time from initiate until a payment settles itself',
  },
  seed: {
    kind: 'text',
    placeholder: 'text',
    description: 'make ids, codes, card numbers and jitter repeat (never keys and tokens)',
  },
  paymentExpires: {
    kind: 'duration',
    placeholder: 'duration',
    description: 'expire a payment that is still pending after this long (default: never)',
  },
  ipnSchedule: {
    kind: 'list',
    placeholder: 'durations',
    default: ['1s', '5s', '30s', '2m', '10m'],
    description: 'waits before the second, third, … attempt of an IPN',
    json: { items: { type: 'string', pattern: DURATION_PATTERN } },
  },
  ipnRetries: {
    kind: 'integer',
    placeholder: 'number',
    min: 0,
    max: 100,
    description:
      'retries of an IPN: the first so many of the schedule, whose last wait repeats (default: all of it)',
  },
  ipnTimeout: {
    kind: 'duration',
    placeholder: 'duration',
    default: '10s',
    description: 'time that a receiver has for its answer',
  },
  ipnFormat: {
    kind: 'choice',
    choices: IPN_FORMATS,
    default: 'form',
    description: 'how an IPN is written: a form as deployments send it, or JSON',
  },
  amountFormat: {
    kind: 'text',
    placeholder: 'sent|stored|fixed:N',
    default: 'sent',
    description: 'data.amount of an IPN: as sent to initiate, with eight decimals, or with N decimals',
    json: { pattern: '^(sent|stored|fixed:[0-8])$', examples: ['sent', 'stored', 'fixed:2'] },
  },
  ipnOn: {
    kind: 'list',
    placeholder: 'canceled,failed,expired',
    description: 'send an IPN for these too, not only on success',
    json: { items: { enum: ['canceled', 'failed', 'expired'] } },
  },
  forwardIpn: {
    kind: 'url',
    placeholder: 'url',
    description: 'deliver every IPN of a payment here instead of to its ipn_url, which goes into a header',
  },
  allowIpnHost: {
    kind: 'list',
    placeholder: 'host',
    description: 'let IPNs out to this public host; repeatable',
  },
  allowHost: {
    kind: 'list',
    placeholder: 'host',
    description: 'accept this Host header on /_sim; repeatable',
  },
  controlToken: {
    kind: 'secret',
    placeholder: 'token',
    max: 200,
    description: 'token that /_sim asks for (default: none, or a made-up one where --host is not loopback)',
  },
  open: {
    kind: 'boolean',
    default: false,
    commandOnly: true,
    description: 'open the dashboard in the browser',
  },
  json: {
    kind: 'boolean',
    default: false,
    commandOnly: true,
    description: 'one JSON document a line on stdout, the ready event first',
  },
  quiet: {
    kind: 'boolean',
    default: false,
    commandOnly: true,
    description: 'say nothing but the ready line and errors',
  },
  detach: {
    kind: 'boolean',
    default: false,
    commandOnly: true,
    description: 'run in the background; returns once it answers',
  },
  charges: { kind: 'structure', description: 'charges as {"payment": {"percent": "2", "fixed": "0"}}' },
  currencies: {
    kind: 'structure',
    description: 'more currencies as [{"code", "name", "symbol", "decimals"}]',
  },
  faults: {
    kind: 'structure',
    description: 'fault rules to start with, as [{"route": "initiate", "status": 503, "times": 2}]',
  },
  outcomes: {
    kind: 'structure',
    description: 'payments that settle themselves, as [{"identifier": "fail-*", "outcome": "fail"}]',
  },
  wallets: { kind: 'structure', description: 'more wallets as [{"email", "holder", "currency", "balance"}]' },
} as const satisfies Record<string, OptionSpec>;

export type OptionName = keyof typeof START_OPTIONS;

type ValueOf<Spec extends OptionSpec> = Spec['kind'] extends 'integer'
  ? number
  : Spec['kind'] extends 'duration'
    ? number | string
    : Spec['kind'] extends 'boolean'
      ? boolean
      : Spec['kind'] extends 'structure'
        ? unknown
        : Spec['kind'] extends 'list'
          ? readonly string[]
          : Spec extends { choices: readonly (infer Choice)[] }
            ? Choice
            : string;

type CommandOption = {
  [Name in OptionName]: (typeof START_OPTIONS)[Name] extends { commandOnly: true } ? Name : never;
}[OptionName];

/** The options of an emulator as values; what is absent takes its default. */
export type StartOptions = {
  -readonly [Name in Exclude<OptionName, CommandOption>]?: ValueOf<(typeof START_OPTIONS)[Name]> | undefined;
};

/** The options that an emulator has wherever it runs: all but those of the command only. */
export const EMULATOR_OPTIONS: readonly string[] = Object.entries<OptionSpec>(START_OPTIONS)
  .filter(([, { commandOnly }]) => !commandOnly)
  .map(([name]) => name);

type Defaulted = {
  [Name in OptionName]: (typeof START_OPTIONS)[Name] extends { default: unknown } ? Name : never;
}[OptionName];

/** Every option with its value; those without a default may be undefined. */
export type ResolvedOptions = {
  [Name in OptionName]: (typeof START_OPTIONS)[Name]['kind'] extends 'list'
    ? readonly string[]
    : (typeof START_OPTIONS)[Name]['kind'] extends 'duration'
      ? Name extends Defaulted
        ? number
        : number | undefined
      : Name extends Defaulted
        ? ValueOf<(typeof START_OPTIONS)[Name]>
        : ValueOf<(typeof START_OPTIONS)[Name]> | undefined;
};

/** Where values come from, the strongest first. Keys are option names; texts are read by the option's kind. */
export interface OptionSource {
  /** What to call a value of it in an error: the flag, the variable, the file and key. */
  label: (name: string) => string;
  values: Readonly<Record<string, unknown>>;
}

/** `dataDir` → `GATEWAY_SIM_DATA_DIR`. */
export function environmentName(name: string): string {
  return `GATEWAY_SIM_${kebab(name).replaceAll('-', '_').toUpperCase()}`;
}

/** Variables of ours that are no options of `start`. */
const OTHER_VARIABLES = ['GATEWAY_SIM_URL', 'GATEWAY_SIM_JSON', 'GATEWAY_SIM_INITIATE_URL'];

/**
 * The option values that an environment holds, by option name. Empty ones count as unset.
 *
 * @throws GatewayError `usage` for a variable that nearly has the name of an option. Others are left alone: what is
 *   called GATEWAY_SIM_VERSION in somebody's pipeline is not ours (chosen)
 */
export function environmentSource(environment: Readonly<Record<string, string | undefined>>): OptionSource {
  const values: Record<string, string> = {};
  for (const [variable, value] of Object.entries(environment)) if (value) requireNoSlip(variable);
  for (const [name, spec] of Object.entries(START_OPTIONS)) {
    const value = spec.kind === 'structure' ? undefined : environment[environmentName(name)];
    if (value) values[name] = value;
  }
  return { label: environmentName, values };
}

function requireNoSlip(variable: string): void {
  const [, written] = /^GATEWAY_SIM_(\w+)$/.exec(variable) ?? [];
  if (written === undefined || OTHER_VARIABLES.includes(variable)) return;
  // Short names are near to much: TOKEN is no slip of OPEN. Hardly a slip changes the first letter.
  const names = (Object.keys(START_OPTIONS) as OptionName[]).filter(
    (name) => name[0] === written[0]?.toLowerCase(),
  );
  const meant = nearestName(written.replaceAll('_', '-'), names.map(kebab));
  const name = names.find((one) => kebab(one) === meant);
  if (name === undefined) return;
  const isStructure = START_OPTIONS[name].kind === 'structure';
  if (variable === environmentName(name) && !isStructure) return;
  const hint = isStructure
    ? `: "${name}" stands in the configuration file only`
    : `: did you mean ${environmentName(name)}?`;
  throw usage(`unknown variable ${variable}${hint}`);
}

/**
 * One value for every option: flag beats environment beats file beats default, whatever the order of strength given.
 *
 * @param sources the strongest first
 * @param known the names that a source may have; every other option takes its default
 * @throws GatewayError `usage` for an unknown name (with the nearest known one) or a value that its option cannot take
 */
export function resolveOptions(
  sources: readonly OptionSource[],
  known: readonly string[] = Object.keys(START_OPTIONS),
): ResolvedOptions {
  for (const { values, label } of sources)
    for (const name of Object.keys(values)) requireKnown(name, known, label);
  const resolved: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries<OptionSpec>(START_OPTIONS)) {
    const source = sources.find(({ values }) => values[name] !== undefined);
    const fallback = spec.default ?? (spec.kind === 'list' ? [] : undefined);
    const value = source?.values[name] ?? fallback;
    resolved[name] = value === undefined ? undefined : readValue(spec, value, source?.label(name) ?? name);
  }
  return resolved as ResolvedOptions;
}

function requireKnown(name: string, known: readonly string[], label: (name: string) => string): void {
  if (known.includes(name)) return;
  const meant = nearestName(name, known);
  throw usage(`unknown option ${label(name)}${meant ? `: did you mean ${label(meant)}?` : ''}`);
}

function usage(message: string, details?: ErrorDetails): GatewayError {
  return new GatewayError('usage', message, details);
}

/**
 * A value as its option wants it, read from text where it is text.
 *
 * @param label what to call it in an error
 * @throws GatewayError `usage`
 */
export function readValue(spec: OptionSpec, value: unknown, label: string): unknown {
  const got = JSON.stringify(value);
  switch (spec.kind) {
    case 'integer': {
      const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
      const { min = 0, max = Number.MAX_SAFE_INTEGER } = spec;
      if (Number.isInteger(number) && Number(number) >= min && Number(number) <= max) return number;
      throw usage(`${label} must be a whole number from ${min} to ${max} (got ${got})`);
    }
    case 'boolean':
      if (value === true || value === 'true' || value === '1') return true;
      if (value === false || value === 'false' || value === '0') return false;
      throw usage(`${label} must be true or false (got ${got})`);
    case 'list': {
      const list = typeof value === 'string' ? value.split(',') : value;
      if (Array.isArray(list) && list.every((item) => typeof item === 'string' && item.trim())) {
        return list.map((item: string) => item.trim());
      }
      throw usage(`${label} must be a list of texts (got ${got})`);
    }
    case 'duration': {
      const milliseconds =
        typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : parseDuration(value);
      if (milliseconds !== undefined) return milliseconds;
      throw usage(`${label} must be a duration such as 500ms, 2s, 1m or 1h (got ${got})`);
    }
    case 'structure':
      // Only the configuration file holds these; the server checks them against their schema.
      return value;
    case 'choice':
      if (typeof value === 'string' && spec.choices?.includes(value)) return value;
      throw usage(`${label} must be one of ${spec.choices?.join(', ')} (got ${got})`);
    case 'url':
      if (isAddress(value)) return value;
      throw usage(`${label} must be an absolute http or https address (got ${got})`);
    case 'baseUrl':
      if (isAddress(value) && !/[?#@]/.test(value)) return value;
      throw usage(
        `${label} must be an absolute http or https address without user name, query and fragment (got ${got})`,
      );
    case 'secret':
      if (typeof value === 'string' && /^[!-~]+$/.test(value) && value.length <= (spec.max ?? 0))
        return value;
      throw usage(`${label} must have 1 to ${spec.max} letters, digits and signs of ASCII, and no space`);
    case 'text':
      if (typeof value === 'string' && value) return value;
      throw usage(`${label} must be text (got ${got})`);
  }
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\/[^/]/i.test(value) && URL.canParse(value);
}
