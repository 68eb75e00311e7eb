import { namesOf } from './vocabulary.ts';

/** A member of a fault rule, as the command line, the control API, the configuration file and the dashboard have it. */
export interface FaultMember {
  kind: 'on' | 'integer' | 'fraction' | 'duration' | 'latency' | 'pattern';
  /** Of a number, inclusive; `fraction` is above `min`. */
  min?: number;
  max?: number;
  /** Of a duration or a latency: the longest, such as `10m`. */
  longest?: string;
  /** What follows the flag in the help. */
  placeholder?: string;
  description: string;
  /** How the dashboard puts it. */
  label?: string;
  /** A value to begin with. */
  sample?: string;
  /** Makes sense for outgoing IPNs only. */
  ipnOnly?: true;
  /** What a rule does, in words; the value follows where there is one. */
  words?: string;
}

/** Nobody waits longer for a response, and an IPN that comes later is lost to a test. */
const LONGEST_LATENCY = '10m';
const LONGEST_DELAY = '24h';

/** What a fault rule can make go wrong (chosen). */
export const FAULT_EFFECTS = {
  status: {
    kind: 'integer',
    min: 200,
    max: 599,
    placeholder: 'code',
    description: 'answer with this status (ipn: as if the receiver did)',
    label: 'Answer with a status',
    sample: '503',
    words: 'status',
  },
  retryAfter: {
    kind: 'duration',
    longest: LONGEST_DELAY,
    placeholder: 'duration',
    description: 'with this Retry-After; the status is 429 unless given',
    label: 'Answer 429 with a Retry-After',
    sample: '30s',
    words: 'Retry-After',
  },
  latency: {
    kind: 'latency',
    longest: LONGEST_LATENCY,
    placeholder: 'duration',
    description: 'wait first: 2s, or a range such as 100ms..2s',
    label: 'Wait first (latency)',
    sample: '2s',
    words: 'latency',
  },
  drop: {
    kind: 'on',
    description: 'close the connection without an answer (ipn: it is lost)',
    label: 'Close the connection',
    words: 'connection dropped',
  },
  truncate: {
    kind: 'on',
    description: 'send half of the body',
    label: 'Send half of the body',
    words: 'body truncated',
  },
  malformed: {
    kind: 'on',
    description: 'spoil the JSON',
    label: 'Break the body',
    words: 'body malformed',
  },
  duplicate: {
    kind: 'on',
    ipnOnly: true,
    description: 'ipn: send it twice',
    label: 'Send the IPN twice',
    words: 'sent twice',
  },
  delay: {
    kind: 'duration',
    longest: LONGEST_DELAY,
    placeholder: 'duration',
    ipnOnly: true,
    description: "ipn: send it so much later, on the emulator's clock",
    label: 'Send the IPN later',
    sample: '30s',
    words: 'delayed by',
  },
  reorder: {
    kind: 'on',
    ipnOnly: true,
    description: 'ipn: let the next one overtake it',
    label: 'Let the next IPN overtake it',
    words: 'overtaken by the next',
  },
  corruptSignature: {
    kind: 'on',
    ipnOnly: true,
    description: 'ipn: falsify the signature',
    label: 'Corrupt the signature of the IPN',
    words: 'signature corrupted',
  },
} as const satisfies Record<string, FaultMember>;
export type FaultEffect = keyof typeof FAULT_EFFECTS;
export const FAULT_EFFECT_NAMES = namesOf(FAULT_EFFECTS);

/** When a fault rule acts (chosen). */
export const FAULT_CONDITIONS = {
  times: {
    kind: 'integer',
    min: 1,
    max: 1_000_000,
    placeholder: 'number',
    description: 'so many times (default: until cleared)',
    label: 'Times (empty: always)',
  },
  probability: {
    kind: 'fraction',
    min: 0,
    max: 1,
    placeholder: 'number',
    description: 'only this part of the time, such as 0.2',
  },
  identifier: {
    kind: 'pattern',
    placeholder: 'pattern',
    description: 'only for these identifiers, such as order-*',
    label: 'Only for the identifier',
  },
} as const satisfies Record<string, FaultMember>;

/** Each of these decides alone what comes back, or when it goes out. */
export const FAULT_ALTERNATIVES: readonly (readonly FaultEffect[])[] = [
  ['status', 'drop', 'truncate', 'malformed'],
  ['retryAfter', 'drop', 'truncate', 'malformed'],
  ['delay', 'reorder'],
];
