import type { Currency } from '../contract/amount.ts';
import type { OutcomeRule, WalletEntry } from '../contract/configuration.ts';
import type { FaultRule } from '../contract/fault.ts';
import type { Choices } from '../contract/profiles.ts';
import type { AmountFormat, DeliveryOrder, IpnFormat, PaymentStatus } from '../contract/vocabulary.ts';
import type { AutoSettings } from './auto.ts';
import type { Ids } from './ids.ts';
import type { IpnComposer } from './ipn.ts';

/**
 * The structures without a configuration. The charges are 2 % on payments, 1 % on new cards and none on card
 * transactions (chosen: ipn-charge-rate, card-charges-rate, card-transaction-charge-none).
 */
export const NO_STRUCTURES = {
  charges: {
    payment: { percent: '2', fixed: '0' },
    card: { percent: '1', fixed: '0' },
    cardTransaction: { percent: '0', fixed: '0' },
  },
  currencies: [] as readonly Currency[],
  wallets: [] as readonly WalletEntry[],
  outcomes: [] as readonly OutcomeRule[],
  faults: [] as readonly FaultRule[],
};
/** The validated structures of a configuration, with defaults. */
export type Structures = typeof NO_STRUCTURES;

/** How a running emulator behaves where the service interface leaves a choice. */
export interface Settings {
  /** The currencies that initiate accepts, by code. */
  currencies: ReadonlyMap<string, Currency>;
  charges: Structures['charges'];
  /** Behaviour that differs between deployments. */
  choices: Choices;
  /** The only e-mail and code that a sandbox checkout accepts. */
  sandboxEmail: string;
  sandboxCode: string;
  ipn: {
    format: IpnFormat;
    amountFormat: AmountFormat;
    /** The final statuses that send an IPN. */
    on: ReadonlySet<PaymentStatus>;
    /** Waits before the second, third, … attempt, in milliseconds. After the last attempt, the delivery fails. */
    schedule: readonly number[];
    /** Time limit for a response, in milliseconds of real time. */
    timeoutMs: number;
    /** Replaces the ipn_url of all payments; null for no replacement. */
    forwardTo: string | null;
  };
  delivery: DeliveryOrder;
  /** Pages that may initiate from the browser, by origin or host. Local pages always may. */
  pages: { origins: ReadonlySet<string>; hosts: ReadonlySet<string> };
  auto: AutoSettings;
  /** Milliseconds from initiation until a pending payment expires; null for never. */
  paymentExpiresMs: number | null;
  /** The address with its host replaced if the user mapped it. */
  mapped(url: string): string;
  /** Whether an address is probably on this machine or its network. Does not resolve names. */
  looksLocal(url: string): boolean;
  /** Why the egress guard blocks IPNs to this address, or null. Does not resolve names. */
  unreachable(url: string): string | null;
}

/** The input of all rules apart from state and command. */
export interface Context {
  /** The emulator's time, in milliseconds since 1970. */
  now: number;
  ids: Ids;
  settings: Settings;
  ipn: IpnComposer;
  /** The run of the emulator and the id of the request that caused the change; undefined if none did. */
  requestId?: string | undefined;
}
