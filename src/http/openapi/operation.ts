import type * as z from 'zod/mini';
import type { SchemaName } from './components.ts';
import type { JsonSchema, Source } from './json-schema.ts';

export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const HTML_TYPE = 'text/html';

/** Who answers: each has its own shape of an error. */
export type Side = 'service' | 'checkout' | 'control' | 'page';

/** Groups of operations, in the order in which they are read. */
export const TAGS = {
  'Service: payments': 'What a merchant’s code calls to take a payment, and what it is told.',
  'Service: checkout':
    'Where the customer’s browser goes. The steps behind the first page are forms of the emulator.',
  'Service: cards': 'Virtual cards of a merchant, in live mode only.',
  'Control: payments': 'Payments from the simulator’s side.',
  'Control: IPNs': 'Deliveries with every attempt; resend one, make one by hand.',
  'Control: cards': 'Cards of all merchants; charge and fund them.',
  'Control: merchants and wallets': 'Keys, and the money of live mode.',
  'Control: what happened': 'Requests, verification codes, and a stream of everything.',
  'Control: faults': 'What goes wrong on purpose.',
  'Control: clock': 'The emulator’s time.',
  'Control: state': 'Back to the start, out, and in.',
  'Control: emulator': 'How it stands; stop it.',
  Dashboard: 'Pages for people. Their own forms are no interface and not listed.',
} as const;
export type Tag = keyof typeof TAGS;

/** A value that stands in the document as an example, by name. */
export type Examples = Readonly<Record<string, unknown>>;

/** What a success answers with. */
export interface Answer {
  status: number;
  description: string;
  /** Default: JSON. */
  type?: string;
  /** The named schemas that the body may have; several where the body tells them apart. */
  schemas?: readonly SchemaName[];
  headers?: Readonly<Record<string, JsonSchema>>;
  examples?: Examples;
}

/** One operation of the document. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'delete';
  path: string;
  tag: Tag;
  side: Side;
  summary: string;
  /** More about it; its source comes on top. */
  description?: string;
  source: Source;
  /** What it asks for; default: nothing. */
  security?: 'secretKey' | 'controlToken';
  body?: { types: readonly string[]; schema: SchemaName; optional?: true; examples?: Examples };
  query?: z.ZodMiniObject;
  /** Headers of the request that change the answer. */
  headers?: Readonly<Record<string, string>>;
  answers: readonly Answer[];
  /** Statuses of its errors. */
  errors: readonly number[];
}
