import type { AppParts } from '../environment.ts';
import { auditRoutes } from './audit.ts';
import { cardRoutes } from './cards.ts';
import { clockRoutes } from './clock.ts';
import { emulatorRoutes } from './emulator.ts';
import { eventRoutes } from './events.ts';
import { faultRoutes } from './faults.ts';
import { ipnRoutes } from './ipns.ts';
import { merchantRoutes } from './merchants.ts';
import { paymentRoutes } from './payments.ts';
import type { ApiOf } from './route.ts';
import { stateRoutes } from './state.ts';

/** The guarded JSON routes below `/_sim`, by group. */
export function controlRoutes(parts: AppParts, document: () => Promise<object>) {
  return {
    'Control: payments': paymentRoutes(parts),
    'Control: IPNs': ipnRoutes(parts),
    'Control: cards': cardRoutes(parts),
    'Control: merchants and wallets': merchantRoutes(parts),
    'Control: activity': eventRoutes(parts),
    'Control: faults': faultRoutes(parts),
    'Control: clock': clockRoutes(parts),
    'Control: audit': auditRoutes(parts),
    'Control: state': stateRoutes(parts),
    'Control: emulator': emulatorRoutes(parts, document),
  };
}

type Groups = ReturnType<typeof controlRoutes>;
export type ControlApi = ApiOf<Groups[keyof Groups][number]>;
