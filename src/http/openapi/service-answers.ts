import * as z from 'zod/mini';
import { CARD_STATUSES } from '../../contract/vocabulary.ts';
import { cardTransactionSchema } from '../../domain/state.ts';

/* What the emulated service answers and sends, in the names of the service interface. */

const text = z.string();
const ok = z.literal('ok');
const positive = z.int().check(z.positive());

/** A card as section 2.1 of the service interface has it. */
const VirtualCard = z.object({
  id: text,
  amount: z.number(),
  charges: z.number(),
  available_balance: z.number(),
  title: text,
  masked_card_number: text,
  card_number: text,
  name_on_card: text,
  email: text,
  cvc: text,
  expiry_month: z.int().check(z.minimum(1), z.maximum(12)),
  expiry_year: text,
  status: z.enum(CARD_STATUSES),
  created_at: text,
  updated_at: text,
  currency: text,
});

const VirtualCardTransaction = z.object({
  id: text,
  currency_code: text,
  before_charge: z.number(),
  amount: z.number(),
  charge: z.number(),
  type: cardTransactionSchema.shape.type,
  details: text,
  remark: cardTransactionSchema.shape.remark,
  created_at: text,
  updated_at: text,
});

const VirtualCardWithTransactions = z.extend(VirtualCard, { transactions: z.array(VirtualCardTransaction) });

/** Every schema of the service that has a name in the document. */
export const SERVICE_ANSWERS = {
  InitiateAnswer: z.object({ success: ok, message: text, url: text }),
  Ipn: z.object({
    status: text,
    signature: text,
    identifier: text,
    data: z.object({
      payment_trx: text,
      amount: text,
      account_holder: text,
      payment_type: text,
      payment_timestamp: text,
      charge: text,
      currency: z.object({ code: text, symbol: text }),
    }),
  }),
  VirtualCard,
  VirtualCardAnswer: z.object({ success: ok, message: text, data: VirtualCard }),
  VirtualCardDetails: z.object({ success: ok, message: text, data: VirtualCardWithTransactions }),
  VirtualCardList: z.object({
    success: ok,
    data: z.array(VirtualCard),
    current_page: positive,
    per_page: positive,
    last_page: positive,
    total: z.int().check(z.nonnegative()),
  }),
  VirtualCardTransaction,
  VirtualCardWithTransactions,
} as const;
