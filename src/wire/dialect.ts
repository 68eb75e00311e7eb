import type * as z from 'zod/mini';
import type { CardTransaction } from '../contract/card.ts';
import type { CardAction } from '../contract/card-status.ts';
import type { ErrorCode, GatewayError } from '../contract/error.ts';
import type { FormerKey, Merchant } from '../contract/merchant.ts';
import type { PaymentRequest } from '../contract/payment.ts';
import type { Choices } from '../contract/profiles.ts';
import type { Mode } from '../contract/vocabulary.ts';
import type { CardPage, IssueCardCommand } from '../domain/card.ts';
import type { ChosenFields, ComposedIpn, Composition, IpnComposer, IpnRequest } from '../domain/ipn.ts';
import type { InitiateCommand } from '../domain/payment.ts';
import type { Language } from '../domain/receiver-answer.ts';
import type { Settings } from '../domain/settings.ts';
import type { Card, Payment } from '../domain/state.ts';
import type { PostedFields } from './body.ts';

/*
 * A dialect of the service interface. Each has its own folder. server.ts selects the service's side, and
 * library/dialect.ts the merchant's. No other code knows which dialect is used.
 */

/** What initiate accepts. */
export type Accepted = Pick<Choices, 'siteLogo' | 'valueLengths'>;

/** What warnings about a request to initiate depend on, apart from the request. */
export interface InitiateFacts {
  settings: Settings;
  /** Whether an earlier payment has the identifier. */
  isReused: boolean;
  containsSecretKey: (text: string) => boolean;
}

/** The result of a card request. */
export type CardResult = 'created' | 'activated' | 'blocked' | 'canceled' | 'found';

/** Everything that HTTP, the use cases and the rules need to know about the service. */
export interface Dialect extends SignatureTools {
  paths: {
    initiate: Readonly<Record<Mode, string>>;
    checkout: Readonly<Record<Mode, string>>;
    cards: Readonly<Record<'list' | 'create' | 'read' | 'toggle' | 'cancel', string>>;
  };
  /** The query parameter of a checkout address that names the payment. */
  paymentParameter: string;
  checkoutUrl(payment: Pick<Payment, 'id' | 'mode'>, baseUrl: string): string;
  /** The card id in a path; undefined if there is none. */
  cardIdIn(path: string): string | undefined;
  /** The payment identifier or card id in posted fields; undefined if there is none. */
  identifierIn(fields: PostedFields['fields']): string | undefined;
  /** Why a plausible path does not exist; undefined for any other path. */
  missingPath(path: string): string | undefined;
  fieldNames: Readonly<Record<keyof InitiateValues, string>>;
  /** This and the readers below throw `invalid_fields` with every problem. */
  readInitiate(posted: PostedFields, accepted: Accepted): InitiateCommand;
  /** Warnings about a request that `readInitiate` accepts. */
  initiateWarnings(posted: PostedFields, request: PaymentRequest, facts: InitiateFacts): string[];
  initiateAnswer(payment: Payment, baseUrl: string): object;
  readCard(posted: PostedFields): IssueCardCommand;
  readToggle(posted: PostedFields): { cardId: string; action: CardAction };
  readCardId(id: string): string;
  readPage(page: string | undefined): number;
  cardAnswer(result: CardResult, card: Card): object;
  cardDetails(card: Card, transactions: readonly CardTransaction[]): object;
  cardList(page: CardPage): object;
  serviceError(error: Pick<GatewayError, 'message' | 'problems'>): object;
  /** Errors of initiate that deployments answer with status 200. */
  rejections: ReadonlySet<ErrorCode>;
  /** The body of such an error. */
  rejection(error: GatewayError, choices: Choices): object;
  /** The response of the checkout of a settled payment if it is not a page. */
  settledError: object;
  /** Masks card numbers and card codes in a response. */
  maskCards(responseBody: string): string;
  ipn: IpnComposer;
  /** Loaded on demand. */
  diagnosis(): Promise<DiagnosisTools>;
  /** The messages for OpenAPI. */
  messages: Readonly<Record<MessageName, z.ZodMiniType>> & {
    /** Examples, by message and name. */
    examples: Readonly<Record<ExampleName, Examples>> & { initiated: Readonly<Record<Mode, Examples>> };
  };
  /** The merchant's side. */
  merchant: MerchantDialect;
}

type Examples = Readonly<Record<string, unknown>>;
type ExampleName =
  | 'initiate'
  | 'cardRequest'
  | 'cardCreated'
  | 'cardList'
  | 'cardDetails'
  | 'toggleRequest'
  | 'cardToggled'
  | 'cardCanceled';
type MessageName =
  | 'InitiateRequest'
  | 'InitiateAnswer'
  | 'CardRequest'
  | 'ToggleRequest'
  | 'CheckoutQuery'
  | 'EmailForm'
  | 'CodeForm'
  | 'PanelForm'
  | 'VirtualCardAnswer'
  | 'VirtualCardDetails'
  | 'VirtualCardList'
  | 'Ipn';

/** The merchant's side, for commands, library and samples. It loads no schemas. */
export interface MerchantDialect extends SignatureTools, Pick<IpnTools, 'sign'> {
  /** The field names that `initiate` accepts. */
  initiateFields: readonly string[];
  initiatePath(mode: Mode): string;
  initiate(mode: Mode, fields: InitiateValues): ServiceCall;
  paymentIdOf(checkoutUrl: string): string;
  /** Whether a path is one of the sandbox. */
  isSandboxPath(path: string): boolean;
  /** The path of the list of cards, below which are all other paths of cards. */
  cardsPath: string;
  /** The field names that `createCard` accepts. */
  cardFields: readonly string[];
  createCard(fields: CardValues): ServiceCall;
  changeCard(action: CardAction, id: string): ServiceCall;
  readAnswer(body: unknown): ServiceAnswer;
  /** Loaded on demand. */
  ipn(): Promise<IpnTools>;
}

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

/** Checks the signature of an IPN, and explains a wrong one. */
export interface SignatureTools {
  /**
   * Checks an IPN like a careful receiver. For a wrong signature, finds the common mistake that explains it, if any.
   *
   * @param body the raw text of the body, form or JSON
   * @param signature checked instead of the signature in the body
   */
  verify(body: string, keys: VerifyKeys, signature?: string): Verification;
  /**
   * Reads an IPN, and checks its signature without an explanation. `verify` computes a thousand hashes for a wrong one.
   *
   * @param secretKey default: none, so that no signature is authentic
   */
  readIpn(body: string, secretKey?: string): Pick<Verification, 'amount' | 'signature' | 'authentic'>;
  /**
   * Code that computes the expected signature from the values as received.
   *
   * @param body the body of the IPN, which may be JSON; default: a form
   */
  signatureCode(body?: string): Code;
  /** The whole check: `signatureCode`, a comparison in constant time, and the response to a wrong signature. */
  signatureCheck(body?: string): Code;
  /** Whether this is the name of a mistake in a signature. */
  isSignatureMistake(name: string): boolean;
}

/** Creates and checks IPNs without a server. */
export interface IpnTools extends SignatureTools {
  /** An IPN for a payment that does not exist. @throws GatewayError `invalid_fields` */
  invent(
    chosen: ChosenFields,
    made: { trx: string; now: number; secretKey: string },
    composition: Composition,
  ): ComposedIpn;
  sign(amount: string, identifier: string, secretKey: string): string;
  /** The names of IPN fields in a form. */
  names: Readonly<Record<IpnFieldName, string>>;
  /** Another amount and identifier with the same signature; null if there is none. */
  splice(amount: string, identifier: string): { amount: string; identifier: string } | null;
}

/** Requests that show why a receiver does not accept an IPN. */
export interface DiagnosisTools {
  /** The requests that show the mistake of a receiver. */
  variants(body: string, keys: VerifyKeys): IpnVariants;
  /** The IPN of an order that no shop has: with the right signature, and with a random one. */
  aboutUnknownOrder(
    body: string,
    secretKey: string,
  ): { identifier: string } & Record<'signed' | 'unsigned', IpnRequest>;
  withRandomSignature(body: string): IpnRequest;
}

export interface IpnVariants {
  /** Signed as code with a common mistake signs them, the likeliest mistake first. */
  signatures: IpnVariant[];
  /** The right IPN in other forms. */
  shapes: IpnVariant[];
  /** Rightly signed, with other values: as a shop may have stored them, or as its code expects them. */
  readings: IpnVariant[];
  /** The right IPN with something more, which a receiver without the mistake ignores. */
  additions: IpnVariant[];
  /** The right IPN with several additions. */
  together(additions: readonly IpnVariant[]): IpnRequest;
}

/** The same IPN as a receiver with one mistake expects it. */
export interface IpnVariant {
  name: string;
  /** The name of the mistake in the signature, or of the form of the request; null if the mistake is another. */
  mistake: string | null;
  /** What the receiver does wrong if it accepts the request, in whole sentences. */
  cause: string;
  fix: string;
  request: IpnRequest;
  /** The same request with a random signature, or for an order that no shop has: a receiver that accepts it proves nothing. */
  control?: IpnRequest;
}

type IpnFieldName =
  | 'status'
  | 'signature'
  | 'identifier'
  | 'amount'
  | 'trx'
  | 'holder'
  | 'charge'
  | 'currency';

/** The same code in each language. */
export type Code = Readonly<Record<Language, string>>;

type Keys = Pick<Merchant, 'secretKey' | 'publicKey'>;

/** The keys for checking an IPN: those of its merchant, or at least the secret key. */
export interface VerifyKeys extends Pick<Keys, 'secretKey'> {
  publicKey?: string | undefined;
  /** The merchant's replaced pairs, which may explain an unknown signature. */
  formerKeys?: readonly FormerKey[] | undefined;
  /** All merchants. Code may have signed with the keys of another one by mistake. */
  merchants?: Iterable<Keys & Pick<Merchant, 'name'>> | undefined;
  /** Replaced pairs of all merchants. `secretKey` may belong to one of them. */
  replaced?: readonly FormerKey[] | undefined;
  /** The merchants of an emulator: one of them may have signed the IPN, if `secretKey` is wrong. */
  signers?: readonly (Keys & Pick<Merchant, 'name'>)[] | undefined;
}

/** The result of checking an IPN. */
export interface Verification
  extends Record<'status' | 'identifier' | 'amount' | 'signature', string | null> {
  /** Whether the IPN is authentic and the payment succeeded. */
  valid: boolean;
  /** Whether the signature is correct, whatever the status. */
  authentic: boolean;
  /** Every reason why it is not valid, one sentence each; empty if it is valid. */
  reasons: readonly string[];
  /** The name of the common mistake that explains the signature; null if it is correct or unexplained. */
  mistake: string | null;
  /** The fix for the mistake; null if none. */
  fix: string | null;
  /** The correct signature of `signedText`; null if a field is missing. */
  expected: string | null;
  signedText: string | null;
  /** The text that was actually signed; null if no common mistake explains it. */
  foundText: string | null;
}
