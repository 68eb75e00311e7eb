import type { Currency } from '../contract/amount.ts';
import type { FireInput } from '../contract/delivery.ts';
import type { Tampered, Tamperings } from '../contract/tampering.ts';
import type { AmountFormat, IpnFormat } from '../contract/vocabulary.ts';
import type { Delivery, Payment } from './state.ts';

/** The subject of an IPN and the key that signs it. */
export interface IpnSubject {
  payment: Payment;
  status: string;
  /** The payer. */
  holder: string;
  secretKey: string;
}

/** Chosen fields of an IPN. Omitted fields have the payment's values or made-up ones. */
export type ChosenFields = Pick<FireInput, 'identifier' | 'amount' | 'currency' | 'status'>;

export interface Composition {
  format: IpnFormat;
  /** Values by dotted name, such as `data.charge`, set before signing. Names of lists end with `[]`. */
  set?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Dotted names of omitted fields. */
  unset?: string | readonly string[] | undefined;
  tamper?: Tamperings | undefined;
}

/** An IPN ready to send. `identifier` is the original one if it was tampered with. */
export interface ComposedIpn
  extends Pick<Delivery, 'contentType' | 'body' | 'signedText' | 'identifier' | 'status'> {
  /** The forged parts; empty for a genuine IPN. */
  tampered: Tampered[];
  /** Whether its signature is the one of its merchant: not forged, chosen or omitted. */
  isSigned: boolean;
}

/** The settings for the content of an IPN. */
export interface IpnSettings {
  ipn: { amountFormat: AmountFormat };
  /** Symbols of currencies, by code. */
  currencies: ReadonlyMap<string, Currency>;
}

/** Creates the bytes of IPNs. Passed to the rules, which know no bytes. */
export interface IpnComposer {
  /** An IPN about an existing or a made-up payment. */
  compose(
    chosen: ChosenFields,
    subject: IpnSubject | { trx: string; now: number; secretKey: string },
    composition: Composition,
    settings: IpnSettings,
  ): ComposedIpn;
  /** The body signed with another key; undefined if it already has that signature. */
  resigned(body: string, signedText: string, secretKey: string): string | undefined;
  /** Identifies a secret key without revealing it. */
  fingerprint(secretKey: string): string;
  /** The body with a changed first digit in its signature. */
  corruptSignature(body: string): string;
}

export interface IpnRequest {
  method: 'POST' | 'GET';
  /** Added to the query of the address. */
  query?: string;
  /** Null for none. */
  contentType: string | null;
  body: string;
  /** Sent after those of every IPN. */
  headers?: readonly [name: string, value: string][];
}
