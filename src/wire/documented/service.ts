import * as z from 'zod/mini';
import { field, query, text } from '../../contract/field.ts';
import { OUTCOMES } from '../../contract/outcomes.ts';
import { DELIVERY_ORDERS } from '../../contract/vocabulary.ts';
import type { Dialect } from '../dialect.ts';
import { postedMessage } from '../fields.ts';
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
import { composeChosen } from './compose.ts';
import { refusal, serviceError, settledError } from './errors.ts';
import { EXAMPLES } from './examples.ts';
import { InitiateAnswer, InitiateRequest, initiateAnswer, readInitiate } from './initiate.ts';
import { corruptSignature, encodeIpn, Ipn, ipnFields, resigned } from './ipn.ts';
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
import { fingerprint } from './signature.ts';
import { verify } from './verify.ts';

const entered = field(text, 'What the customer entered.');

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
  serviceError,
  // Clients check only the body (observed: refusal-*-status*).
  refusals: new Set(['forbidden', 'invalid_fields', 'unsupported_currency', 'invalid_api_key']),
  refusal,
  settledError,
  maskCards,
  ipn: {
    compose: (subject, format, settings) => {
      const fields = ipnFields(subject, settings);
      const { identifier, status, data } = fields;
      const signedText = data.amount + identifier;
      return { ...encodeIpn(fields, format), signedText, identifier, status };
    },
    composeChosen,
    resigned,
    fingerprint,
    corruptSignature,
  },
  verify,
  messages: {
    InitiateRequest,
    InitiateAnswer,
    CardRequest,
    ToggleRequest,
    CheckoutQuery: query('CheckoutQuery', 'Selects the payment.', {
      [PAYMENT_PARAMETER]: field(text, 'The payment id in the checkout URL.'),
    }),
    EmailForm: postedMessage('EmailForm', 'First step of the checkout.', { email: entered }),
    CodeForm: postedMessage('CodeForm', 'Second step of the checkout.', { code: entered }),
    PanelForm: postedMessage('PanelForm', 'The form of the simulator panel.', {
      outcome: field(z.enum(OUTCOMES), 'The outcome of the payment.'),
      delivery: field(z.optional(z.enum(DELIVERY_ORDERS)), 'Order of IPN and redirect.'),
    }),
    VirtualCardAnswer,
    VirtualCardDetails,
    VirtualCardList,
    Ipn,
    examples: EXAMPLES,
  },
  merchant: merchantDialect,
};
