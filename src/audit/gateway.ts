import { GatewayError } from '../contract/error.ts';
import type { RecordedRequest } from '../contract/event.ts';
import type { InitiateFields, Payment, Settled, SettleInput } from '../contract/payment.ts';
import type { Mask } from '../contract/secrets.ts';
import type { Egress } from '../delivery/egress.ts';

/** The part of an emulator that an audit needs. */
export interface AuditGateway {
  url: string;
  publicKey: string;
  secretKey: string;
  /** For the output of shops and commands, before it goes into a report. */
  mask: Mask;
  /** Limits orders, probes and attacks to the addresses that IPNs of this emulator may reach. */
  egress: Egress;
  /** Environment variables for the user's commands. */
  env: Readonly<Record<string, string>>;
  payments: {
    /** Newest first. */
    list(filter: { limit: number; cursor?: string }): Promise<{ data: Payment[]; nextCursor: string | null }>;
    /** Initiates a payment as a merchant would. */
    create(fields: InitiateFields): Promise<Payment>;
    approve(id: string, how: Omit<SettleInput, 'outcome'>): Promise<Settled>;
    cancel(id: string, how: Omit<SettleInput, 'outcome'>): Promise<Settled>;
  };
  /** Newest first. */
  requests: { list(filter: { payment?: string }): Promise<{ data: RecordedRequest[] }> };
}

/** @throws the same error, without secrets */
export async function withoutSecrets<Result>(
  { mask }: Pick<AuditGateway, 'mask'>,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof GatewayError ? error.masked(mask) : error;
  }
}
