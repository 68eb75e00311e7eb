import type { CardTransaction } from '../contract/card.ts';
import type { GatewayError } from '../contract/error.ts';
import type { CardAction, Mode } from '../contract/vocabulary.ts';
import type { CardPage, IssueCardCommand } from '../domain/card.ts';
import type { IpnComposer } from '../domain/ipn.ts';
import type { InitiateCommand } from '../domain/payment.ts';
import type { Card, Payment } from '../domain/state.ts';
import type { PostedFields } from './body.ts';
import {
  type CardNews,
  cardAnswer,
  cardDetails,
  cardList,
  VirtualCardAnswer,
  VirtualCardDetails,
  VirtualCardList,
} from './card-answers.ts';
import { CardRequest, readCard, readCardId, readPage, readToggle, ToggleRequest } from './card-requests.ts';
import { CodeForm, EmailForm, PanelForm } from './checkout.ts';
import { chosenFields, composeIpn, inventedFields } from './compose.ts';
import { serviceError } from './errors.ts';
import { EXAMPLES } from './examples.ts';
import { InitiateAnswer, InitiateRequest, initiateAnswer, readInitiate } from './initiate.ts';
import { corruptSignature, encodeIpn, Ipn, ipnFields, resigned } from './ipn.ts';
import { CARD_PATHS, CHECKOUT_PATHS, checkoutUrl, INITIATE_PATHS } from './paths.ts';
import { verify } from './verify.ts';

const ipn: IpnComposer = {
  compose: (subject, settings) => {
    const fields = ipnFields(subject, settings);
    const { identifier, status, data } = fields;
    const signedText = data.amount + identifier;
    return { ...encodeIpn(fields, settings.ipn.format), signedText, identifier, status };
  },
  composeChosen: (chosen, subject, composition, settings) => {
    const fields =
      'payment' in subject ? chosenFields(chosen, subject, settings) : inventedFields(chosen, subject);
    return composeIpn(fields, subject.secretKey, composition);
  },
  resigned,
  corruptSignature,
};

const MESSAGES = {
  ...{ InitiateRequest, InitiateAnswer, CardRequest, ToggleRequest, EmailForm, CodeForm, PanelForm },
  ...{ VirtualCardAnswer, VirtualCardDetails, VirtualCardList, Ipn },
  examples: EXAMPLES,
} as const;

/** An interface that this emulator speaks: what HTTP, use cases and rules are given of it. */
export interface Dialect {
  paths: {
    initiate: Readonly<Record<Mode, string>>;
    checkout: Readonly<Record<Mode, string>>;
    cards: Readonly<Record<keyof typeof CARD_PATHS, string>>;
  };
  checkoutUrl(payment: Pick<Payment, 'id' | 'mode'>, baseUrl: string): string;
  readInitiate(posted: PostedFields, loose: boolean): InitiateCommand;
  initiateAnswer(payment: Payment, baseUrl: string): object;
  readCard(posted: PostedFields): IssueCardCommand;
  readToggle(posted: PostedFields): { cardId: string; action: CardAction };
  readCardId(id: string): string;
  readPage(page: string | undefined): number;
  cardAnswer(news: CardNews, card: Card): object;
  cardDetails(card: Card, transactions: readonly CardTransaction[]): object;
  cardList(page: CardPage): object;
  serviceError(error: GatewayError): object;
  ipn: IpnComposer;
  verify: typeof verify;
  /** What the document says of its messages. */
  messages: typeof MESSAGES;
}

/** The dialect of the service interface. */
export const dialect: Dialect = {
  paths: { initiate: INITIATE_PATHS, checkout: CHECKOUT_PATHS, cards: CARD_PATHS },
  checkoutUrl,
  readInitiate,
  initiateAnswer,
  readCard,
  readToggle,
  readCardId,
  readPage,
  cardAnswer,
  cardDetails,
  cardList,
  serviceError,
  ipn,
  verify,
  messages: MESSAGES,
};
