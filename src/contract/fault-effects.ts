import { namesOf } from './vocabulary.ts';

/** A member of a fault rule, for the command line, the control API and the configuration file. */
export interface FaultMember {
  kind: 'on' | 'integer' | 'fraction' | 'duration' | 'latency' | 'pattern';
  /** Limits of a number, inclusive; a `fraction` must be above `min`. */
  min?: number;
  max?: number;
  /** Maximum of a duration or a latency, such as `10m`. */
  longest?: string;
  /** The placeholder after the flag in the help. */
  placeholder?: string;
  description: string;
  ipnOnly?: true;
  /** What the rule does, in words. Its value follows, if it has one. */
  words?: string;
}

/** Maximum number of rules (chosen): each request is checked against all of them. */
export const MAX_RULES = 100;

/** Clients do not wait longer for a response. A later IPN is useless to a test. */
const LONGEST_LATENCY = '10m';
const LONGEST_DELAY = '24h';

/** The effects of fault rules (chosen). */
export const FAULT_EFFECTS = {
  status: {
    kind: 'integer',
    min: 200,
    max: 599,
    placeholder: 'code',
    description: 'answer with this status (ipn: as if from the receiver)',
    words: 'status',
  },
  retryAfter: {
    kind: 'duration',
    longest: LONGEST_DELAY,
    placeholder: 'duration',
    description: 'send this Retry-After; the status defaults to 429',
    words: 'Retry-After',
  },
  latency: {
    kind: 'latency',
    longest: LONGEST_LATENCY,
    placeholder: 'duration',
    description: 'wait first: 2s, or a range such as 100ms..2s',
    words: 'latency',
  },
  drop: {
    kind: 'on',
    description: 'close the connection without a response (ipn: the IPN is lost)',
    words: 'connection dropped',
  },
  truncate: {
    kind: 'on',
    description: 'send half of the body',
    words: 'body truncated',
  },
  malformed: {
    kind: 'on',
    description: 'corrupt the JSON',
    words: 'body malformed',
  },
  duplicate: {
    kind: 'on',
    ipnOnly: true,
    description: 'ipn: send the IPN twice',
    words: 'sent twice',
  },
  delay: {
    kind: 'duration',
    longest: LONGEST_DELAY,
    placeholder: 'duration',
    ipnOnly: true,
    description: "ipn: send the IPN after this delay, on the emulator's clock",
    words: 'delayed by',
  },
  reorder: {
    kind: 'on',
    ipnOnly: true,
    description: 'ipn: let the next IPN overtake this one',
    words: 'overtaken by the next',
  },
  corruptSignature: {
    kind: 'on',
    ipnOnly: true,
    description: 'ipn: forge the signature',
    words: 'signature corrupted',
  },
} as const satisfies Record<string, FaultMember>;
export type FaultEffect = keyof typeof FAULT_EFFECTS;
/** The effects that can act on a request to the service. */
export type RequestEffect = {
  [Name in FaultEffect]: (typeof FAULT_EFFECTS)[Name] extends { ipnOnly: true } ? never : Name;
}[FaultEffect];
export const FAULT_EFFECT_NAMES = namesOf(FAULT_EFFECTS);

/** When a fault rule acts (chosen). */
export const FAULT_CONDITIONS = {
  times: {
    kind: 'integer',
    min: 1,
    max: 1_000_000,
    placeholder: 'number',
    description: 'maximum number of times (default: until cleared)',
  },
  probability: {
    kind: 'fraction',
    min: 0,
    max: 1,
    placeholder: 'number',
    description: 'probability that the fault applies, such as 0.2',
  },
  identifier: {
    kind: 'pattern',
    placeholder: 'pattern',
    description: 'only for these identifiers, such as order-*',
  },
} as const satisfies Record<string, FaultMember>;

/** Effects that exclude each other. */
export const FAULT_ALTERNATIVES: readonly (readonly FaultEffect[])[] = [
  ['status', 'drop', 'truncate', 'malformed'],
  ['retryAfter', 'drop', 'truncate', 'malformed'],
  ['delay', 'reorder'],
];
