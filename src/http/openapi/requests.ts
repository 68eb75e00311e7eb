import * as z from 'zod/mini';
import { ClockInput } from '../../contract/clock.ts';
import { FaultRule, FaultRules } from '../../contract/fault.ts';
import { CardRequest, ToggleRequest } from '../../wire/cards.ts';
import { InitiateRequest } from '../../wire/initiate.ts';
import { CardTransactionInput } from '../control/cards.ts';
import { FireInput, ResendInput } from '../control/ipns.ts';
import { FundInput, MerchantInput } from '../control/merchants.ts';
import { SettleInput } from '../control/payments.ts';

/** Every schema of a request that has a name in the document: the ones that validate, but for the pages' forms. */
export const REQUESTS = {
  CardRequest,
  CardTransactionInput,
  ClockInput,
  CodeForm: z.object({ code: z.string() }),
  EmailForm: z.object({ email: z.string() }),
  FaultRule,
  FaultRules,
  FireInput,
  FundInput,
  InitiateRequest,
  MerchantInput,
  PanelForm: z.object({ outcome: SettleInput.shape.outcome, delivery: SettleInput.shape.delivery }),
  ResendInput,
  SettleInput,
  ToggleRequest,
  TokenForm: z.object({ token: z.string() }),
} as const;
