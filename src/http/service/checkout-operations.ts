import { CODE_LIFETIME_MS } from '../../contract/checkout.ts';
import type { Mode } from '../../contract/vocabulary.ts';
import type { Dialect } from '../../wire/dialect.ts';
import { type Answer, FORM_TYPE, HTML_TYPE, type Operation, seeOtherAnswer } from '../operation.ts';
import { MODE_WORDS } from './initiate.ts';

const page: Answer = { status: 200, description: 'A page.', type: HTML_TYPE };
const seeOther = seeOtherAnswer('To the next page, or to the merchant’s URL, exactly as received.');
const TAG = 'Service: checkout';

const SHOWS = {
  GET: 'The current step of the payment. A payment that settled automatically redirects to the merchant.',
  POST: 'Same as GET. One published client sends the browser here by POST.',
} as const;

/** The page of the checkout, by GET and by POST. */
export function showOperation(mode: Mode, method: keyof typeof SHOWS, { messages }: Dialect): Operation {
  return {
    tag: TAG,
    query: messages.CheckoutQuery,
    summary: `Hosted checkout in ${MODE_WORDS[mode]}${method === 'POST' ? ', by POST' : ''}`,
    description: SHOWS[method],
    source: 'observed',
    lines: 'checkout-*',
    headers: { 'Accept-Language': 'English, or French if preferred.' },
    answers: [page, seeOther],
    errors: [404, 409, 410],
  };
}

interface Step {
  summary: string;
  description?: string;
  form?: 'EmailForm' | 'CodeForm' | 'PanelForm';
  settles?: true;
}

/** The forms of the checkout by the last part of their path. */
const STEPS = {
  email: { summary: 'Enter the e-mail', form: 'EmailForm' },
  code: {
    summary: 'Enter the verification code',
    description: `In live mode it is valid for ${CODE_LIFETIME_MS / 60_000} minutes. The correct code pays.`,
    form: 'CodeForm',
    settles: true,
  },
  resend: { summary: 'Request a new verification code' },
  back: { summary: 'Change the e-mail' },
  cancel: { summary: 'Cancel', settles: true },
  panel: {
    summary: 'Settle from the simulator panel',
    description: 'Not available with --no-panel.',
    form: 'PanelForm',
    settles: true,
  },
} as const satisfies Record<string, Step>;
export type StepName = keyof typeof STEPS;
export const STEP_NAMES = Object.keys(STEPS) as StepName[];

/** Whether a form has fields. */
export const readsForm = (name: StepName) => 'form' in STEPS[name];

/** A form of the checkout. For an invalid entry, a browser is redirected to a page with the problem; a program gets 422. */
export function stepOperation(mode: Mode, name: StepName, { messages }: Dialect): Operation {
  const { summary, description, form, settles }: Step = STEPS[name];
  const stays = { ...page, description: 'Settled without a redirect: delivery `ipn-only`.' };
  return {
    tag: TAG,
    query: messages.CheckoutQuery,
    summary: `${summary}, in ${MODE_WORDS[mode]}`,
    description,
    source: 'chosen',
    lines: 'checkout-*',
    body: form && { types: [FORM_TYPE], schema: messages[form] },
    answers: settles ? [stays, seeOther] : [seeOther],
    errors: [403, 404, 409, 410, ...(form ? [422] : [])],
  };
}
