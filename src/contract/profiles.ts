import { namesOf } from './vocabulary.ts';

/*
 * In what deployments of the service interface differ. Code asks the choices in force, never the name of a profile.
 * No schema library here: the command line reads this table for free.
 */

/** A field that was refused: with a text and a list, with a list alone, or with a list in the place of the text. */
const FIELD_REFUSALS = ['message-and-errors', 'errors', 'message-list'] as const;

/** Every choice with the values that it may take. What an option of `start` decides already is no choice here. */
export const CHOICES = {
  siteLogo: { values: ['required', 'optional'], about: 'whether initiate needs site_logo' },
  valueLengths: { values: ['limited', 'free'], about: 'whether the limits of the fields of initiate hold' },
  currencyCase: { values: ['upper', 'free'], about: 'whether a currency must come in upper case' },
  initiateByGet: { values: ['refused', 'taken'], about: 'whether initiate is answered by GET, too' },
  sandboxRefusal: { values: FIELD_REFUSALS, about: 'how refused fields are answered in the sandbox' },
  liveRefusal: { values: FIELD_REFUSALS, about: 'how refused fields are answered in live mode' },
  otherRefusal: {
    values: ['message-and-errors', 'message'],
    about: 'how a refused currency or key is answered',
  },
  settledVisit: {
    values: ['page', 'error'],
    about: 'what the checkout of a settled payment shows: a page, or an error in JSON',
  },
  checkoutByPost: {
    values: ['page', 'refused'],
    about: 'whether a POST to the address of the checkout shows its page, or is refused',
  },
} as const satisfies Record<string, { values: readonly string[]; about: string }>;

export type ChoiceName = keyof typeof CHOICES;
export const CHOICE_NAMES = namesOf(CHOICES);
/** One value for every choice. */
export type Choices = { readonly [Name in ChoiceName]: (typeof CHOICES)[Name]['values'][number] };

/** The options of `start` whose defaults a profile may set. */
export const PROFILE_OPTIONS = ['loose', 'currency', 'amountFormat', 'ipnRetries', 'errorStatus'] as const;

export interface ProfileOptions {
  loose?: boolean;
  currency?: readonly string[];
  amountFormat?: string;
  ipnRetries?: number;
  errorStatus?: string;
}

interface Profile {
  about: string;
  choices: Choices;
  /** Defaults of options that decide such a choice themselves. */
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

/** What all server copies that were read have in common (observed: *-bare*, checkout-again-error*, ipn-not-retried). */
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
    about: 'the older of the two server copies that are in use',
    choices: { ...SERVER, liveRefusal: 'message-list' },
    options: { amountFormat: 'stored-live', ipnRetries: 0 },
  },
  'newer-server': {
    about: 'the newer of the two server copies that are in use',
    choices: { ...SERVER, siteLogo: 'optional', checkoutByPost: 'refused' },
    options: { amountFormat: 'stored', ipnRetries: 0 },
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

/** The choices of a profile, with what its options come to. */
export function choicesOf(name: ProfileName): Choices {
  const { choices, options }: Profile = PROFILES[name];
  return { ...choices, ...(options.loose && LOOSE) };
}
