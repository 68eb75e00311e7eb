import type * as z from 'zod/mini';
import type { CardTransaction } from '../contract/card.ts';
import type { ErrorCode, GatewayError } from '../contract/error.ts';
import type { FormerKey } from '../contract/merchant.ts';
import type { AskedPayment } from '../contract/payment.ts';
import type { Choices } from '../contract/profiles.ts';
import type { MisusedKey, SignatureMistake } from '../contract/signature.ts';
import type { CardAction, Mode } from '../contract/vocabulary.ts';
import type { CardPage, IssueCardCommand } from '../domain/card.ts';
import type { ChosenFields, ComposedIpn, Composition, IpnComposer } from '../domain/ipn.ts';
import type { InitiateCommand } from '../domain/payment.ts';
import type { Card, Payment } from '../domain/state.ts';
import type { PostedFields } from './body.ts';

/*
 * What a dialect of the service interface is made of. Each has a folder of its own. The service's side is chosen in
 * server.ts, the merchant's in library/merchant-client.ts; nobody else knows which one is spoken.
 */

/** What initiate accepts. */
export type Accepted = Pick<Choices, 'siteLogo' | 'valueLengths'>;

/** What happened to a card, or that it was found. */
export type CardNews = 'created' | 'activated' | 'blocked' | 'canceled' | 'found';

/** The service's side: what HTTP, use cases and rules are given. */
export interface Dialect {
  paths: {
    initiate: Readonly<Record<Mode, string>>;
    checkout: Readonly<Record<Mode, string>>;
    cards: Readonly<Record<'list' | 'create' | 'read' | 'toggle' | 'cancel', string>>;
  };
  /** The parameter by which the address of a checkout names its payment. */
  paymentParameter: string;
  checkoutUrl(payment: Pick<Payment, 'id' | 'mode'>, baseUrl: string): string;
  /** The id of the card that a path names; undefined where it names none. */
  cardIdIn(path: string): string | undefined;
  /** The identifier, or the id of the card, that posted fields name; undefined where they name none. */
  identifierIn(fields: PostedFields['fields']): string | undefined;
  /** Why a path that looks right does not exist; undefined for any other. */
  missingPath(path: string): string | undefined;
  /** This and all that read below throw `invalid_fields` with every problem. */
  readInitiate(posted: PostedFields, accepted: Accepted): InitiateCommand;
  initiateAnswer(payment: Payment, baseUrl: string): object;
  readCard(posted: PostedFields): IssueCardCommand;
  readToggle(posted: PostedFields): { cardId: string; action: CardAction };
  readCardId(id: string): string;
  readPage(page: string | undefined): number;
  cardAnswer(news: CardNews, card: Card): object;
  cardDetails(card: Card, transactions: readonly CardTransaction[]): object;
  cardList(page: CardPage): object;
  serviceError(error: Pick<GatewayError, 'message' | 'problems'>): object;
  /** What initiate answers with 200 when deployments do. */
  refusals: ReadonlySet<ErrorCode>;
  /** What initiate answers to one of these. */
  refusal(error: GatewayError, mode: Mode, choices: Choices): object;
  /** What the checkout of a settled payment answers where that is no page. */
  settledError: object;
  /** A response without the card numbers and card codes in it. */
  maskCards(responseBody: string): string;
  ipn: IpnComposer;
  verify: IpnTools['verify'];
  /** What the document says of its messages. */
  messages: Readonly<Record<MessageName, z.ZodMiniType>> & {
    /** By message and name. */
    examples: Readonly<Record<ExampleName, Examples>> & { initiated: Readonly<Record<Mode, Examples>> };
  };
  /** The same dialect as a merchant speaks it. */
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

/** The merchant's side: what commands, library and samples send and check. It loads no schema. */
export interface MerchantDialect {
  /** The names of the fields that `initiate` takes. */
  initiateFields: readonly string[];
  initiatePath(mode: Mode): string;
  initiate(mode: Mode, fields: InitiateValues): ServiceCall;
  /** The id of the payment that a checkout URL opens. */
  paymentIdOf(checkoutUrl: string): string;
  /** The names of the fields that `createCard` takes. */
  cardFields: readonly string[];
  createCard(fields: CardValues): ServiceCall;
  changeCard(action: CardAction, id: string): ServiceCall;
  readAnswer(body: unknown): ServiceAnswer;
  /** Loaded only when an IPN is to be made or checked. */
  ipn(): Promise<IpnTools>;
}

/** Values of the fields of initiate; what is undefined is not sent. */
export type InitiateValues = {
  [Name in 'publicKey' | keyof AskedPayment]?: string | null | undefined;
};

/** Values of the fields of a card to create; what is undefined is not sent. */
export type CardValues = { [Name in keyof IssueCardCommand]?: string | undefined };

/** A request to the service, with a form, a JSON body or none. */
export interface ServiceCall {
  method: 'POST' | 'PUT';
  path: string;
  form?: Readonly<Record<string, string>>;
  json?: Readonly<Record<string, unknown>>;
}

/** What there is of these in the body of a response. */
interface ServiceAnswer {
  checkoutUrl?: string | undefined;
  cardId?: string | undefined;
  /** Why it was refused. */
  message?: string | undefined;
  problems?: readonly string[] | undefined;
}

/** Makes and checks IPNs without a server. */
export interface IpnTools {
  /** An IPN for a payment that never was. @throws GatewayError `invalid_fields` */
  invent(
    chosen: ChosenFields,
    made: { trx: string; now: number; secretKey: string },
    composition: Composition,
  ): ComposedIpn;
  /**
   * Checks an IPN as a careful receiver does, and says of a wrong signature which mistake made it, where one of the
   * usual ones did.
   *
   * @param body the raw text of the body, form or JSON
   * @param signature checked in place of the one in the body
   */
  verify(body: string, keys: VerifyKeys, signature?: string): Verification;
  /** The signature over an amount and an identifier. */
  sign(amount: string, identifier: string, secretKey: string): string;
  /** What the fields of an IPN are called in its form. */
  names: Readonly<Record<IpnFieldName, string>>;
  /** A payment with this identifier and amount whose signature is that of the given one; null where there is none. */
  splice(amount: string, identifier: string): { amount: string; identifier: string } | null;
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

/** What an IPN is checked with. */
export interface VerifyKeys {
  secretKey: string;
  /** Keys that somebody may have signed with by mistake. */
  others?: readonly MisusedKey[] | undefined;
  /** Pairs that were replaced: the secret key given here may be one of them. */
  former?: readonly FormerKey[] | undefined;
  /** When the pair of the merchant was replaced last, where that may be why a signature is not known. */
  replacedAt?: string | undefined;
}

/** What came of checking an IPN. */
export interface Verification
  extends Record<'status' | 'identifier' | 'amount' | 'signature', string | null> {
  /** Authentic, and it says that the payment succeeded. */
  valid: boolean;
  /** The signature alone is right, whatever the status says. */
  authentic: boolean;
  /** Every reason why it is not valid, one sentence each; empty when it is. */
  reasons: readonly string[];
  /** The usual mistake that made the signature; null where it is right, or none explains it. */
  mistake: SignatureMistake | null;
  /** How to fix that mistake; null for none. */
  fix: string | null;
  /** The signature that the secret key gives over `signedText`; null where a field is missing. */
  expected: string | null;
  signedText: string | null;
  /** The text that the signature was made over, as far as one of the usual mistakes explains it; else null. */
  foundText: string | null;
}
