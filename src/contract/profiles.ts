import { namesOf } from './vocabulary.ts';

/*
 * How deployments of the service interface differ. Code checks the active choices, never the name of a profile.
 * No schema library here, so that the command line loads this table quickly.
 */

/** Every choice with its values, except choices that an option of `start` makes. */
export const CHOICES = {
  siteLogo: { values: ['required', 'optional'], about: 'whether initiate requires site_logo' },
  valueLengths: { values: ['limited', 'free'], about: 'whether initiate limits the length of fields' },
  currencyCase: { values: ['upper', 'free'], about: 'whether a currency must be in upper case' },
  initiateByGet: { values: ['refused', 'taken'], about: 'whether initiate also accepts GET' },
  fieldRefusal: {
    values: ['message-and-errors', 'errors'],
    about: 'error format for invalid fields',
  },
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

interface Profile {
  about: string;
  choices: Choices;
  /** Defaults of options of `start`. */
  options: { loose?: boolean; currency?: readonly string[]; amountFormat?: string };
}

const DOCUMENT: Choices = {
  siteLogo: 'required',
  valueLengths: 'limited',
  currencyCase: 'upper',
  initiateByGet: 'refused',
  fieldRefusal: 'message-and-errors',
  otherRefusal: 'message-and-errors',
  settledVisit: 'page',
  checkoutByPost: 'page',
};

/** What the inspected server copies answer; where they differ, the newer one (observed: *-bare*, checkout-again-error*). */
const SERVER: Choices = {
  ...DOCUMENT,
  siteLogo: 'optional',
  currencyCase: 'free',
  initiateByGet: 'taken',
  fieldRefusal: 'errors',
  otherRefusal: 'message',
  settledVisit: 'error',
  checkoutByPost: 'refused',
};

/** What `--loose` accepts although it is not documented (observed: field-*-any-length, field-logo-optional*, currency-any-case). */
export const LOOSE = {
  siteLogo: 'optional',
  valueLengths: 'free',
  currencyCase: 'free',
} as const satisfies Partial<Choices>;

export const PROFILES = {
  document: { about: 'what the document says', choices: DOCUMENT, options: {} },
  observed: {
    about: 'what most published clients need',
    choices: DOCUMENT,
    options: { loose: true, currency: ['PKR:Rs', 'NPR:Rs', 'GHS:₵', 'AOA:Kz'] },
  },
  server: {
    about: 'what a server in production answers',
    choices: SERVER,
    options: { amountFormat: 'stored' },
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = namesOf(PROFILES);

/** The choices of a profile, including those that its options imply. */
export function choicesOf(name: ProfileName): Choices {
  const { choices, options }: Profile = PROFILES[name];
  return { ...choices, ...(options.loose && LOOSE) };
}
