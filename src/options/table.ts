import { DURATION_PATTERN } from '../contract/duration.ts';
import type { JsonSchema } from '../contract/field.ts';
import { DELIVERY_ORDERS, IPN_FORMATS, SENT_ON_REQUEST } from '../contract/vocabulary.ts';

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
    placeholder: SENT_ON_REQUEST.join(','),
    description: 'send an IPN for these too, not only on success',
    json: { items: { enum: SENT_ON_REQUEST } },
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
