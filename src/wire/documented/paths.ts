import type { Mode } from '../../contract/vocabulary.ts';
import type { Dialect } from '../dialect.ts';

/** Paths of initiate (documented: initiate-sandbox, initiate-live). */
export const INITIATE_PATHS = {
  live: '/payment/initiate',
  sandbox: '/sandbox/payment/initiate',
} as const satisfies Record<Mode, string>;

/** Paths of the hosted checkout (observed: initiate-url-path*). */
export const CHECKOUT_PATHS = {
  live: '/initiate/payment/checkout',
  sandbox: '/sandbox/initiate/payment/checkout',
} as const satisfies Record<Mode, string>;

/** Paths of the card endpoints (documented: card-create, card-list, card-read, card-block, card-cancel). They exist in live mode only. */
export const CARD_PATHS = {
  list: '/api/cards',
  create: '/api/cards/save',
  read: '/api/cards/:id',
  toggle: '/api/cards/toggle',
  cancel: '/api/cards/cancel/:id',
} as const;

/** Cards exist in live mode only (documented: route-sandbox-cards*). Code that uses the sandbox as a prefix requests these paths. */
export const missingPath: Dialect['missingPath'] = (path) =>
  /^\/sandbox\/api\/cards(\/|$)/.test(path)
    ? `${path} does not exist: cards exist in live mode only, under /api/cards`
    : undefined;

/** Matches the paths that read or cancel a card. */
export const cardIdIn: Dialect['cardIdIn'] = (path) => {
  const id = /^\/api\/cards\/(?:cancel\/)?([^/]+)$/.exec(path)?.[1];
  return id === 'save' || id === 'toggle' ? undefined : id;
};

/** The query parameter of a checkout (documented: initiate-url-payment-id*). */
export const PAYMENT_PARAMETER = 'payment_id';

export const checkoutUrl: Dialect['checkoutUrl'] = ({ id, mode }, baseUrl) =>
  `${baseUrl}${CHECKOUT_PATHS[mode]}?${PAYMENT_PARAMETER}=${id}`;
