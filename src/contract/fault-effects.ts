/*
 * What a fault rule can do, and when it acts: once for the command line, the pages and the documents. All of it is
 * chosen.
 */

/** How a value of a rule is written. `latency` is a duration or a range of them. */
export type FaultFieldKind = 'on' | 'integer' | 'number' | 'text' | 'duration' | 'latency';

export interface FaultField {
  kind: FaultFieldKind;
  /** Switched on by being there. */
  flag?: true;
  /** What stands for its value in the help. */
  placeholder?: string;
  description: string;
  /** For the route `ipn` only. */
  ipnOnly?: true;
}

export const FAULT_EFFECTS = {
  status: {
    kind: 'integer',
    placeholder: 'code',
    description: 'answer with this status (ipn: as if the receiver did)',
  },
  retryAfter: {
    kind: 'duration',
    placeholder: 'duration',
    description: 'with this Retry-After; the status is 429 unless given',
  },
  latency: {
    kind: 'latency',
    placeholder: 'duration',
    description: 'wait first: 2s, or a range such as 100ms..2s',
  },
  drop: { kind: 'on', flag: true, description: 'close the connection without an answer (ipn: it is lost)' },
  truncate: { kind: 'on', flag: true, description: 'send half of the body' },
  malformed: { kind: 'on', flag: true, description: 'corrupt the JSON' },
  duplicate: { kind: 'on', flag: true, description: 'ipn: send it twice', ipnOnly: true },
  delay: {
    kind: 'duration',
    placeholder: 'duration',
    description: "ipn: send it this much later, on the emulator's clock",
    ipnOnly: true,
  },
  reorder: { kind: 'on', flag: true, description: 'ipn: let the next one overtake it', ipnOnly: true },
  corruptSignature: { kind: 'on', flag: true, description: 'ipn: corrupt the signature', ipnOnly: true },
} as const satisfies Record<string, FaultField>;
export type FaultEffect = keyof typeof FAULT_EFFECTS;

export const FAULT_CONDITIONS = {
  times: { kind: 'integer', placeholder: 'number', description: 'act this often (default: until cleared)' },
  probability: {
    kind: 'number',
    placeholder: 'number',
    description: 'only this part of the time, such as 0.2',
  },
  identifier: {
    kind: 'text',
    placeholder: 'pattern',
    description: 'only for these identifiers, such as order-*',
  },
} as const satisfies Record<string, FaultField>;
export type FaultCondition = keyof typeof FAULT_CONDITIONS;
