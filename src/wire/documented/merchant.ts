import type { CardAction } from '../../contract/card-status.ts';
import type { MerchantDialect, ServiceCall } from '../dialect.ts';
import {
  CARD_NAMES,
  CARD_PATHS,
  INITIATE_NAMES,
  INITIATE_PATHS,
  IPN_NAMES,
  PAYMENT_PARAMETER,
  toWire,
} from './names.ts';
import { isSignatureMistake, readIpn, sign, signatureCheck, signatureCode, verify } from './signature.ts';

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

export const merchantDialect: MerchantDialect = {
  initiateFields: Object.keys(INITIATE_NAMES),
  initiatePath: (mode) => INITIATE_PATHS[mode],
  initiate: (mode, fields) => ({
    method: 'POST',
    path: INITIATE_PATHS[mode],
    form: toWire(INITIATE_NAMES, fields),
  }),
  paymentIdOf: (checkoutUrl) => new URL(checkoutUrl).searchParams.get(PAYMENT_PARAMETER) ?? '',
  isSandboxPath: (path) => path.startsWith('/sandbox/'),
  cardsPath: CARD_PATHS.list,
  cardFields: Object.keys(CARD_NAMES),
  createCard: (fields) => ({ method: 'POST', path: CARD_PATHS.create, json: toWire(CARD_NAMES, fields) }),
  changeCard: (action, id) => CARD_CHANGES[action](id),
  readAnswer: (body) => {
    const answer = (body ?? {}) as Partial<Answer>;
    return {
      checkoutUrl: answer.success === 'ok' ? answer.url : undefined,
      cardId: answer.data?.id,
      // Deployments may send only a list (observed: refusal-field-errors*).
      message: answer.message ?? answer.errors?.[0],
      problems: answer.errors,
    };
  },
  sign,
  verify,
  readIpn,
  signatureCode,
  signatureCheck,
  isSignatureMistake,
  ipn: async () => {
    const { invent, splice } = await import('./ipn.ts');
    return {
      invent,
      verify,
      readIpn,
      sign,
      signatureCode,
      signatureCheck,
      isSignatureMistake,
      splice,
      names: IPN_NAMES,
    };
  },
};

/** All fields of success and error responses. */
interface Answer {
  success: string;
  url: string;
  data: { id: string };
  message: string;
  errors: string[];
}
