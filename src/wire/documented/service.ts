import type { Dialect } from '../dialect.ts';
import {
  cardAnswer,
  cardDetails,
  cardList,
  maskCards,
  VirtualCardAnswer,
  VirtualCardDetails,
  VirtualCardList,
} from './card-answers.ts';
import { CardRequest, readCard, readCardId, readPage, readToggle, ToggleRequest } from './card-requests.ts';
import { CodeForm, EmailForm, PanelForm } from './checkout.ts';
import { chosenFields, composeIpn } from './compose.ts';
import { EXAMPLES } from './examples.ts';
import { InitiateAnswer, InitiateRequest, initiateAnswer, readInitiate } from './initiate.ts';
import { corruptSignature, encodeIpn, Ipn, ipnFields, resigned } from './ipn.ts';
import { invent } from './ipn-tools.ts';
import { merchantDialect } from './merchant.ts';
import {
  CARD_PATHS,
  CHECKOUT_PATHS,
  cardIdIn,
  checkoutUrl,
  INITIATE_PATHS,
  missingPath,
  PAYMENT_PARAMETER,
} from './paths.ts';
import { verify } from './verify.ts';

/** The dialect of the service interface as it is documented. */
export const dialect: Dialect = {
  paths: { initiate: INITIATE_PATHS, checkout: CHECKOUT_PATHS, cards: CARD_PATHS },
  paymentParameter: PAYMENT_PARAMETER,
  checkoutUrl,
  cardIdIn,
  identifierIn: (fields) => {
    const named = fields['identifier'] ?? fields['card_id'];
    return typeof named === 'string' ? named : undefined;
  },
  missingPath,
  readInitiate,
  initiateAnswer,
  readCard,
  readToggle,
  readCardId,
  readPage,
  cardAnswer,
  cardDetails,
  cardList,
  serviceError: ({ message, problems }) => ({ error: 'true', message, errors: [...problems] }),
  // Their clients decide on the body (observed).
  refusals: new Set(['invalid_fields', 'unsupported_currency', 'invalid_api_key']),
  maskCards,
  ipn: {
    compose: (subject, settings) => {
      const fields = ipnFields(subject, settings);
      const { identifier, status, data } = fields;
      const signedText = data.amount + identifier;
      return { ...encodeIpn(fields, settings.ipn.format), signedText, identifier, status };
    },
    composeChosen: (chosen, subject, composition, settings) =>
      'payment' in subject
        ? composeIpn(chosenFields(chosen, subject, settings), subject.secretKey, composition)
        : invent(chosen, subject, composition),
    resigned,
    corruptSignature,
  },
  verify,
  messages: {
    ...{ InitiateRequest, InitiateAnswer, CardRequest, ToggleRequest, EmailForm, CodeForm, PanelForm },
    ...{ VirtualCardAnswer, VirtualCardDetails, VirtualCardList, Ipn },
    examples: EXAMPLES,
  },
  merchant: merchantDialect,
};
