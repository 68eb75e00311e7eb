import { namesOf } from './vocabulary.ts';

/*
 * How deployments of the service interface differ. Code checks the active choices, never the name of a profile.
 * No schema library here, so that the command line loads this table quickly.
 */

/** Responses to an invalid field: a text and a list, only a list, or a list instead of the text. */
const FIELD_REFUSALS = ['message-and-errors', 'errors', 'message-list'] as const;

/** Every choice with its values, except choices that an option of `start` makes. */
export const CHOICES = {
  siteLogo: { values: ['required', 'optional'], about: 'whether initiate requires site_logo' },
  valueLengths: { values: ['limited', 'free'], about: 'whether initiate limits the length of fields' },
  currencyCase: { values: ['upper', 'free'], about: 'whether a currency must be in upper case' },
  initiateByGet: { values: ['refused', 'taken'], about: 'whether initiate also accepts GET' },
  sandboxRefusal: { values: FIELD_REFUSALS, about: 'error format for invalid fields in the sandbox' },
  liveRefusal: { values: FIELD_REFUSALS, about: 'error format for invalid fields in live mode' },
  otherRefusal: {
    values: ['message-and-errors', 'message'],
    about: 'error format for an invalid currency or key',
  },
  settledVisit: {
    values: ['page', 'error'],
    about: 'whether the checkout of a settled payment shows a page or a JSON error',
  },
  checkoutByPost: {
    values: ['page', 'refused'],
    about: 'whether a POST to the checkout address shows the page or is rejected',
  },
} as const satisfies Record<string, { values: readonly string[]; about: string }>;

type ChoiceName = keyof typeof CHOICES;
export const CHOICE_NAMES = namesOf(CHOICES);
/** One value for every choice. */
export type Choices = { readonly [Name in ChoiceName]: (typeof CHOICES)[Name]['values'][number] };

/** Options of `start` for which a profile can set the default. */
export const PROFILE_OPTIONS = ['loose', 'currency', 'amountFormat', 'errorStatus'] as const;

export interface ProfileOptions {
  loose?: boolean;
  currency?: readonly string[];
  amountFormat?: string;
  errorStatus?: string;
}

interface Profile {
  about: string;
  choices: Choices;
  options: ProfileOptions;
}

const DOCUMENT: Choices = {
  siteLogo: 'required',
  valueLengths: 'limited',
  currencyCase: 'upper',
  initiateByGet: 'refused',
  sandboxRefusal: 'message-and-errors',
  liveRefusal: 'message-and-errors',
  otherRefusal: 'message-and-errors',
  settledVisit: 'page',
  checkoutByPost: 'page',
};

/** What all inspected server copies have in common (observed: *-bare*, checkout-again-error*, ipn-not-retried). */
const SERVER: Choices = {
  ...DOCUMENT,
  currencyCase: 'free',
  initiateByGet: 'taken',
  sandboxRefusal: 'errors',
  liveRefusal: 'errors',
  otherRefusal: 'message',
  settledVisit: 'error',
};

/** What `--loose` accepts although it is not documented (observed: field-*-any-length, field-logo-optional*, currency-any-case). */
export const LOOSE = {
  siteLogo: 'optional',
  valueLengths: 'free',
  currencyCase: 'free',
} as const satisfies Partial<Choices>;

export const PROFILES = {
  document: { about: 'what the document says', choices: DOCUMENT, options: {} },
  'older-server': {
    about: 'the older of the two server copies in use',
    choices: { ...SERVER, liveRefusal: 'message-list' },
    options: { amountFormat: 'stored-live' },
  },
  'newer-server': {
    about: 'the newer of the two server copies in use',
    choices: { ...SERVER, siteLogo: 'optional', checkoutByPost: 'refused' },
    options: { amountFormat: 'stored' },
  },
  observed: {
    about: 'what most published clients need',
    choices: DOCUMENT,
    options: { loose: true, currency: ['PKR:Rs', 'NPR:Rs', 'GHS:₵', 'AOA:Kz'] },
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = namesOf(PROFILES);

export function isProfile(name: string): name is ProfileName {
  return Object.hasOwn(PROFILES, name);
}

/** The choices of a profile, including those that its options imply. */
export function choicesOf(name: ProfileName): Choices {
  const { choices, options }: Profile = PROFILES[name];
  return { ...choices, ...(options.loose && LOOSE) };
}
