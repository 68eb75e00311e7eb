import type { RecordedRequest } from '../contract/event.ts';
import type { InitiateFields, Payment, Settled, SettleInput } from '../contract/payment.ts';
import type { Egress } from '../delivery/egress.ts';

/** The part of an emulator that an audit needs. */
export interface AuditGateway {
  url: string;
  publicKey: string;
  secretKey: string;
  /** Null where it needs none. */
  controlToken: string | null;
  /** Decides where orders, probes and attacks may go: where the IPNs of this emulator may. */
  egress: Egress;
  /** Variables that the commands of the user see. */
  env: Readonly<Record<string, string>>;
  payments: {
    /** Newest first. */
    list(filter: { limit: number; cursor?: string }): Promise<{ data: Payment[]; nextCursor: string | null }>;
    /** Initiates a payment as a merchant would. */
    create(fields: InitiateFields): Promise<Payment>;
    approve(id: string, how: Omit<SettleInput, 'outcome'>): Promise<Settled>;
    cancel(id: string, how: Omit<SettleInput, 'outcome'>): Promise<Settled>;
  };
  requests: { list(filter: { payment: string }): Promise<{ data: RecordedRequest[] }> };
}
