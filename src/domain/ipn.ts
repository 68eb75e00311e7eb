import type { Currency } from '../contract/amount.ts';
import type { FireInput } from '../contract/delivery.ts';
import type { Tampered, Tamperings } from '../contract/tampering.ts';
import type { IpnFormat } from '../contract/vocabulary.ts';
import type { AmountFormat } from './money.ts';
import type { Delivery, Payment } from './state.ts';

/** What an IPN is about, and the key that signs it. */
export interface IpnSubject {
  payment: Payment;
  /** The `status` that it carries. */
  status: string;
  /** Who paid. */
  holder: string;
  secretKey: string;
}

/** The fields of an IPN that its maker chooses; what is left out takes the payment's value, or a made-up one. */
export type ChosenFields = Pick<FireInput, 'identifier' | 'amount' | 'currency' | 'status'>;

export interface Composition {
  format: IpnFormat;
  /** Values by dotted name, such as `data.charge`; set before it is signed. Lists have `[]` behind their names. */
  set?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Dotted names of what is left out. */
  unset?: string | readonly string[] | undefined;
  tamper?: Tamperings | undefined;
}

/** An IPN ready to be posted; `identifier` as it was before it was tampered with. */
export interface ComposedIpn
  extends Pick<Delivery, 'contentType' | 'body' | 'signedText' | 'identifier' | 'status'> {
  /** What was forged in it; nothing where it is left out. */
  tampered?: Tampered[];
}

/** What an IPN is written by. */
export interface IpnSettings {
  ipn: { amountFormat: AmountFormat };
  /** Symbols of currencies, by code. */
  currencies: ReadonlyMap<string, Currency>;
}

/** What makes the bytes of IPNs: handed in, so that no rule knows how the dialect writes them. */
export interface IpnComposer {
  /** The IPN of a settled payment. */
  compose(subject: IpnSubject, format: IpnFormat, settings: IpnSettings): ComposedIpn;
  /** An IPN made by hand: about a payment, or about one that never was. */
  composeChosen(
    chosen: ChosenFields,
    subject: IpnSubject | { trx: string; now: number; secretKey: string },
    composition: Composition,
    settings: IpnSettings,
  ): ComposedIpn;
  /** The body signed with another key; undefined where it carries that signature already. */
  resigned(body: string, signedText: string, secretKey: string): string | undefined;
  /** What tells a secret key from others without telling the key. */
  fingerprint(secretKey: string): string;
  /** The body with another first digit in its signature. */
  corruptSignature(body: string): string;
}
