import type { CardAction } from '../contract/card-status.ts';
import type { PaymentRequest } from '../contract/payment.ts';
import type { Mode } from '../contract/vocabulary.ts';
import type { IssueCardCommand } from '../domain/card.ts';
import {
  CARD_NAMES,
  CARD_PATHS,
  INITIATE_NAMES,
  INITIATE_PATHS,
  PAYMENT_PARAMETER,
  toWire,
} from './names.ts';

/*
 * The merchant's side, for commands, library and samples. It loads no schemas.
 */

/** Values of the fields of initiate. Undefined values are not sent. */
export type InitiateValues = {
  [Name in 'publicKey' | keyof PaymentRequest]?: string | null | undefined;
};

/** Values of the fields of a new card. Undefined values are not sent. */
export type CardValues = { [Name in keyof IssueCardCommand]?: string | undefined };

/** A request to the service, with a form, a JSON body or no body. */
export interface ServiceCall {
  method: 'POST' | 'PUT';
  path: string;
  form?: Readonly<Record<string, string>>;
  json?: Readonly<Record<string, unknown>>;
}

/** The relevant fields of a response body. */
interface ServiceAnswer {
  checkoutUrl?: string | undefined;
  cardId?: string | undefined;
  /** Why it was rejected. */
  message?: string | undefined;
  problems?: readonly string[] | undefined;
}

const toggled = (id: string, active: boolean): ServiceCall => ({
  method: 'PUT',
  path: CARD_PATHS.toggle,
  json: { card_id: id, active },
});

const CARD_CHANGES = {
  activate: (id) => toggled(id, true),
  block: (id) => toggled(id, false),
  cancel: (id) => ({ method: 'PUT', path: CARD_PATHS.cancel.replace(':id', encodeURIComponent(id)) }),
} as const satisfies Record<CardAction, (id: string) => ServiceCall>;

/** The field names that `initiate` accepts. */
export const INITIATE_FIELD_NAMES: readonly string[] = Object.keys(INITIATE_NAMES);
/** The field names that `createCard` accepts. */
export const CARD_FIELD_NAMES: readonly string[] = Object.keys(CARD_NAMES);

/** Where a merchant initiates a sandbox payment. */
export function initiateUrl(baseUrl: string): string {
  return baseUrl + INITIATE_PATHS.sandbox;
}

export function initiateCall(
  mode: Mode,
  fields: InitiateValues,
): ServiceCall & Required<Pick<ServiceCall, 'form'>> {
  return { method: 'POST', path: INITIATE_PATHS[mode], form: toWire(INITIATE_NAMES, fields) };
}

export function paymentIdOf(checkoutUrl: string): string {
  return new URL(checkoutUrl).searchParams.get(PAYMENT_PARAMETER) ?? '';
}

export function isSandboxPath(path: string): boolean {
  return path.startsWith('/sandbox/');
}

export function createCardCall(fields: CardValues): ServiceCall {
  return { method: 'POST', path: CARD_PATHS.create, json: toWire(CARD_NAMES, fields) };
}

export function changeCardCall(action: CardAction, id: string): ServiceCall {
  return CARD_CHANGES[action](id);
}

export function readAnswer(body: unknown): ServiceAnswer {
  const answer = (body ?? {}) as Partial<Answer>;
  return {
    checkoutUrl: answer.success === 'ok' ? answer.url : undefined,
    cardId: answer.data?.id,
    // Deployments may send only a list (observed: refusal-field-errors*).
    message: answer.message ?? answer.errors?.[0],
    problems: answer.errors,
  };
}

/** All fields of success and error responses. */
interface Answer {
  success: string;
  url: string;
  data: { id: string };
  message: string;
  errors: string[];
}
