import type { Currency } from '../contract/amount.ts';
import type { OwnPages } from '../contract/page-origin.ts';
import type { Choices } from '../contract/profiles.ts';
import type { DeliveryOrder, IpnFormat, PaymentStatus } from '../contract/vocabulary.ts';
import type { AutoSettings } from './auto.ts';
import type { Charges } from './configuration.ts';
import type { Ids } from './ids.ts';
import type { IpnComposer } from './ipn.ts';
import type { AmountFormat } from './money.ts';
import type { Retention } from './retention.ts';

/** How one running gateway behaves where the service interface leaves a choice. */
export interface Settings {
  /** The currencies that initiate accepts, by code. */
  currencies: ReadonlyMap<string, Currency>;
  charges: Charges;
  /** In what deployments differ. */
  choices: Choices;
  /** The only e-mail and code that a sandbox checkout takes. */
  sandboxEmail: string;
  sandboxCode: string;
  ipn: {
    format: IpnFormat;
    amountFormat: AmountFormat;
    /** The final states that send an IPN. */
    on: ReadonlySet<PaymentStatus>;
    /** Waits before the second, third, … attempt in milliseconds; after the last one the delivery has failed. */
    schedule: readonly number[];
    /** Real time that a receiver has for its answer, in milliseconds. */
    timeoutMs: number;
    /** Where every IPN of a payment goes instead of its ipn_url; null for the ipn_url itself. */
    forwardTo: string | null;
  };
  delivery: DeliveryOrder;
  /** Whose pages may initiate from the browser. */
  pages: OwnPages;
  /** Which settled payments are kept; null for all. */
  keep: Retention | null;
  auto: AutoSettings;
  /** Milliseconds from initiation until a pending payment expires; null: never. */
  paymentExpiresMs: number | null;
  /** Where an address that a client sent leads: itself, but for hosts that the user mapped. */
  mapped(url: string): string;
  /** Whether an address seems to be on this machine or its network. No name is resolved. */
  looksLocal(url: string): boolean;
  /** Why an IPN to this address would be refused, or null. No name is resolved. */
  unreachable(url: string): string | null;
}

/** What every rule is given beside the state and its input. */
export interface Context {
  /** The emulator's time, in milliseconds since 1970. */
  now: number;
  ids: Ids;
  settings: Settings;
  ipn: IpnComposer;
  /** What caused it: the run of the emulator and the id of the request; undefined for no request to the service. */
  requestId?: string | undefined;
}
