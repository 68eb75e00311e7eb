import type { AuditCase } from '../case.ts';
import { AMOUNT } from './amount.ts';
import { CONTROL } from './control.ts';
import { INITIATE } from './initiate.ts';
import { INJECTION } from './injection.ts';
import { LEAKS } from './leaks.ts';
import { ONCE } from './once.ts';
import { ORDER } from './order.ts';
import { RETURN } from './return.ts';
import { ROBUSTNESS } from './robustness.ts';
import { SENDER } from './sender.ts';
import { STATUS } from './status.ts';

/** Every case, in the order of the report. */
export const CASES: readonly AuditCase[] = [
  CONTROL,
  ...SENDER,
  ...ORDER,
  ...AMOUNT,
  ...ONCE,
  ...STATUS,
  ...RETURN,
  ...INITIATE,
  ...INJECTION,
  ...ROBUSTNESS,
  ...LEAKS,
];
