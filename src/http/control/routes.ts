import { Hono } from 'hono';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { cardRoutes } from './cards.ts';
import { clockRoutes } from './clock.ts';
import { faultRoutes } from './faults.ts';
import { ipnRoutes } from './ipns.ts';
import { merchantRoutes, walletRoutes } from './merchants.ts';
import { paymentRoutes } from './payments.ts';
import { simulatorRoutes } from './simulator.ts';
import { watchRoutes } from './watch.ts';

/** The JSON routes below `/_sim`. Their type is what the typed client of CLI and library is made of. */
export function controlRoutes(parts: AppParts) {
  return new Hono<AppEnvironment>()
    .get('/openapi.json', async (c) => {
      // Only when it is asked for: making the schemas of all answers takes longer than the start may.
      const { openApiDocument } = await import('../openapi.ts');
      return c.json(openApiDocument(parts.facts));
    })
    .route('/payments', paymentRoutes(parts))
    .route('/ipns', ipnRoutes(parts))
    .route('/merchants', merchantRoutes(parts))
    .route('/wallets', walletRoutes(parts))
    .route('/cards', cardRoutes(parts))
    .route('/clock', clockRoutes(parts))
    .route('/faults', faultRoutes(parts))
    .route('/', watchRoutes(parts))
    .route('/', simulatorRoutes(parts));
}

export type ControlRoutes = ReturnType<typeof controlRoutes>;
