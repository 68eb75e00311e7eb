import type { AppParts } from '../environment.ts';
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
import { walletRoutes } from './wallets.ts';

/** The JSON routes below `/_sim` that the guards stand in front of, in the order in which they are read. */
export function controlRoutes(parts: AppParts, document: () => Promise<object>) {
  return [
    ...paymentRoutes(parts),
    ...ipnRoutes(parts),
    ...cardRoutes(parts),
    ...merchantRoutes(parts),
    ...walletRoutes(parts),
    ...eventRoutes(parts),
    ...faultRoutes(parts),
    ...clockRoutes(parts),
    ...stateRoutes(parts),
    ...emulatorRoutes(parts, document),
  ] as const;
}

/** Requests and responses of the control API, by route. */
export type ControlApi = ApiOf<ReturnType<typeof controlRoutes>>;
