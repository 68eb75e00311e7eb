import * as z from 'zod/mini';
import { textThat } from './input.ts';
import { CHOICE_NAMES, PROFILE_NAMES, PROFILE_OPTIONS } from './profiles.ts';
import { namesOf, SOURCES } from './vocabulary.ts';

/*
 * One observation of the service interface: a request, and what holds of its answer, of the IPN that follows, or of
 * a client. fixtures/fidelity/manifest.jsonl has one a line.
 */

/** What becomes of the payment or the card that a line made. All but `pay` need an emulator's control API. */
const AFTERWARDS = ['pay', 'approve', 'cancel', 'fail', 'expire', 'charge', 'fund'] as const;

/** Areas of the interface, in the order in which they are read. */
export const AREAS = {
  initiate: 'Initiate a payment',
  fields: 'Fields of initiate',
  amount: 'Amounts',
  currency: 'Currencies',
  refusal: 'Refusals of initiate',
  checkout: 'Hosted checkout',
  ipn: 'IPN',
  signature: 'Signature',
  cards: 'Virtual cards',
  card: 'Card records',
  routes: 'Routes and methods',
  clients: 'What clients rely on',
} as const;
export type Area = keyof typeof AREAS;

const json = z.json();
const text = z.string();
const texts = z.array(text);
const pattern = text.check(z.refine((value) => isPattern(value), { error: 'must be a regular expression' }));
const patterns = z.record(text, pattern);

function isPattern(value: string): boolean {
  try {
    return Boolean(new RegExp(value, 'u'));
  } catch {
    return false;
  }
}

/** What holds of an IPN. Fields are named as a form has them, such as `data[amount]`. */
const ExpectedIpn = z.strictObject({
  /** How many attempts arrive. */
  count: z.optional(z.int().check(z.minimum(0), z.maximum(3))),
  /** What the receiver answers; 200 unless it says otherwise. */
  answered: z.optional(z.int()),
  fields: z.optional(z.record(text, text)),
  matches: z.optional(patterns),
  lacks: z.optional(texts),
  /** The names of all fields in their order. */
  order: z.optional(texts),
  headers: z.optional(patterns),
  method: z.optional(text),
  /** What follows the path of the address that it was posted to. */
  query: z.optional(text),
  /** It arrives before the browser is sent on. */
  early: z.optional(z.literal(true)),
  /** Whether its signature is the documented one over what it carries. */
  signed: z.optional(z.literal(true)),
});
export type ExpectedIpn = z.output<typeof ExpectedIpn>;

/** What holds of an answer. Paths are dotted, such as `data.0.id`; a number is a place in a list. */
const Expected = z.strictObject({
  status: z.optional(z.int()),
  /** These fields with exactly these values. */
  json: z.optional(z.record(text, json)),
  /** The names at the top, in any order, and no others. */
  keys: z.optional(texts),
  has: z.optional(texts),
  lacks: z.optional(texts),
  types: z.optional(z.record(text, z.enum(['string', 'number', 'integer', 'boolean', 'array', 'object']))),
  matches: z.optional(patterns),
  /** It is no refusal: its status is 2xx, and it is JSON without an error. */
  taken: z.optional(z.literal(true)),
  /** It is a refusal, whatever its shape, and its texts name all of these. */
  names: z.optional(texts),
  /** It is a refusal, whatever its shape; one that does not name these may be for something else, and is not seen. */
  about: z.optional(texts),
  /** Digits, the last of which fits the others by Luhn's formula. */
  luhn: z.optional(texts),
  /** Stand somewhere in the body. */
  text: z.optional(texts),
  headers: z.optional(patterns),
  /** How many entries a list has. */
  lengths: z.optional(z.record(text, z.int())),
  /** Where the browser is sent after the payment is settled on the checkout. */
  redirect: z.optional(text),
  ipn: z.optional(ExpectedIpn),
  /** What a client does, for what cannot be seen at a target. */
  client: z.optional(text),
});
export type Expected = z.output<typeof Expected>;

export const ManifestLine = z.strictObject({
  id: textThat((value) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value), 'must be kebab-case'),
  area: z.enum(namesOf(AREAS)),
  /** The observation as a sentence. */
  says: text.check(z.minLength(1)),
  request: z.strictObject({
    method: textThat((value) => /^[A-Z]+$/.test(value), 'must be a method in upper case'),
    path: text.check(z.minLength(1)),
    headers: z.record(
      textThat((value) => /^[\w!#$%&'*+.^`|~-]+$/.test(value), 'must be named as headers are'),
      textThat((value) => !/[^\t\x20-\x7e\x80-\xff]/.test(value), 'must be the text of a header'),
    ),
    body: z.nullable(text),
  }),
  /** How often it is sent; the first answer counts. */
  times: z.optional(z.int().check(z.minimum(2), z.maximum(20))),
  /** The line that comes before, with all that comes before that. */
  after: z.optional(text),
  /** What is done when it was answered. */
  outcome: z.optional(z.enum(AFTERWARDS)),
  /** Only an emulator does so: it is not tried elsewhere. */
  emulator: z.optional(z.literal(true)),
  expect: Expected,
  source: z.strictObject({ kind: z.enum(SOURCES), where: text.check(z.minLength(1)) }),
  /** Those under which it holds; none where only a choice of its own brings it about. */
  profiles: z.array(z.enum(PROFILE_NAMES)),
  /** The choices and options on which it depends; null stands for an option that is not set, `!NPR` for a list without NPR. */
  choice: z.optional(
    z.partialRecord(z.enum([...CHOICE_NAMES, ...PROFILE_OPTIONS]), z.union([text, z.number(), z.null()])),
  ),
});
export type ManifestLine = z.output<typeof ManifestLine>;
