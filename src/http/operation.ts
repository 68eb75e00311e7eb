import type * as z from 'zod/mini';
import type { Source } from '../contract/vocabulary.ts';

export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const HTML_TYPE = 'text/html';

/** Groups of operations, in the order in which they are read. */
export const TAGS = {
  'Service: payments': 'What a merchant’s code calls to take a payment, and what it receives.',
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
  'Control: audit': 'Whether a shop’s payment code is safe.',
  'Control: state': 'Back to the start, out, and in.',
  'Control: emulator': 'How it is doing; stop it.',
  Dashboard: 'Pages for people. Their own forms are no interface and not listed.',
} as const;
export type Tag = keyof typeof TAGS;

/** A value that is in the document as an example, by name. */
export type Examples = Readonly<Record<string, unknown>>;

/** What a success answers with. */
export interface Answer {
  status: number;
  /** Default: what its one message says of itself, else the summary of the operation. */
  description?: string;
  /** Default: JSON. */
  type?: string | undefined;
  /** The messages that the body may be; several where the body tells them apart. */
  schemas?: readonly z.ZodMiniType[];
  /** What is said of its headers, by name. */
  headers?: Readonly<Record<string, string>>;
  examples?: Examples;
}

export function seeOtherAnswer(description: string): Answer {
  return { status: 303, description, headers: { Location: 'Where the browser goes.' } };
}

/** What the OpenAPI document says of a route, beside its method and its path. */
export interface Operation {
  tag: Tag;
  summary: string;
  /** More about it; its source comes on top. */
  description?: string | undefined;
  source: Source;
  /** The lines of the manifest that show it, as in a mark: `card-read*, card-list`. */
  lines?: string;
  /** What it asks for; default: nothing. */
  security?: 'secretKey' | 'controlToken' | undefined;
  /** Its media types are JSON unless it says otherwise. */
  body?:
    | {
        types?: readonly string[];
        schema: z.ZodMiniType;
        optional?: boolean | undefined;
        /** Default: that of its message. */
        examples?: Examples;
      }
    | undefined;
  query?: z.ZodMiniType | undefined;
  /** What is said of the parameters in its path, by name. */
  params?: Readonly<Record<string, string>>;
  /** Headers of the request that change the response. */
  headers?: Readonly<Record<string, string>>;
  answers: readonly Answer[];
  /** Statuses of its errors beside those that follow from its security and from having a body. */
  errors: readonly number[];
}

const OPERATIONS = new WeakMap<object, Operation>();

/** A handler with its operation: what is mounted is in the document because it is mounted. */
export function described<Handler extends object>(operation: Operation, handler: Handler): Handler {
  OPERATIONS.set(handler, operation);
  return handler;
}

/** The operation of a handler; undefined for what is no part of an interface. */
export function operationOf(handler: object): Operation | undefined {
  return OPERATIONS.get(handler);
}
