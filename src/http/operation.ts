import type * as z from 'zod/mini';
import type { Source } from '../contract/vocabulary.ts';

/** Groups of operations, in the order of the document. */
export const TAGS = {
  'Service: payments': 'What a merchant’s code calls to accept a payment, and what it receives.',
  'Service: checkout':
    'Pages for the customer’s browser. The steps after the first page are forms of the emulator.',
  'Service: cards': 'Virtual cards of a merchant, in live mode only.',
  'Control: payments': 'View and settle payments.',
  'Control: IPNs': 'View, resend and create deliveries.',
  'Control: cards': 'View, charge and fund the cards of all merchants.',
  'Control: merchants and wallets': 'Keys, and balances in live mode.',
  'Control: activity': 'Requests, verification codes, and a stream of all events.',
  'Control: faults': 'Simulated errors and delays.',
  'Control: clock': 'The emulator’s time.',
  'Control: state': 'Reset, export and import all state.',
  'Control: emulator': 'Check and stop the emulator.',
} as const;
export type Tag = keyof typeof TAGS;

/** A successful response. */
export interface Answer {
  status: number;
  /** Default: the description of its only message, or the summary of the operation. */
  description?: string;
  /** Default: JSON. */
  type?: string | undefined;
  /** The possible messages of the body. */
  schemas?: readonly z.ZodMiniType[];
  /** Descriptions of its headers, by name. */
  headers?: Readonly<Record<string, string>>;
}

/** The description of a route in the OpenAPI document, without its method and path. */
export interface Operation {
  tag: Tag;
  summary: string;
  /** More details. The document adds the source. */
  description?: string | undefined;
  source: Source;
  /** The manifest lines that prove it, with patterns: `card-read*, card-list`. */
  lines?: string;
  /** Default: none. */
  security?: 'secretKey' | 'controlToken' | undefined;
  /** Default type: JSON. */
  body?:
    | {
        types?: readonly string[];
        schema: z.ZodMiniType;
        optional?: boolean | undefined;
      }
    | undefined;
  query?: z.ZodMiniType | undefined;
  /** Descriptions of the path parameters, by name. */
  params?: Readonly<Record<string, string>> | undefined;
  /** Headers of the request that change the response. */
  headers?: Readonly<Record<string, string>> | undefined;
  answers: readonly Answer[];
  /** Error statuses, except those that follow from its security and its body. */
  errors: readonly number[];
}

const OPERATIONS = new WeakMap<object, () => Operation>();

/**
 * Attaches an operation to a handler, so that every mounted route is in the document.
 *
 * @param describe called for the document only, which few emulators need
 */
export function described<Handler extends object>(describe: () => Operation, handler: Handler): Handler {
  OPERATIONS.set(handler, describe);
  return handler;
}

/** The operation of a handler; undefined if it is not part of the API. */
export function operationOf(handler: object): Operation | undefined {
  return OPERATIONS.get(handler)?.();
}
