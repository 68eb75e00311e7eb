import * as z from 'zod/mini';
import { Live, Ready, Status, Stopping } from '../../contract/emulator.ts';
import { timestamp } from '../../contract/timestamp.ts';
import { fidelityIn } from '../../system/fidelity.ts';
import { VERSION } from '../../system/package-info.ts';
import { masked } from '../../system/secret.ts';
import type { AppParts } from '../environment.ts';
import { PROBES } from '../probes.ts';
import { control } from './route.ts';
import { paymentCounts, recordCounts } from './state.ts';
import { clockView, faultView } from './views.ts';

/** Describes the probes in the document. The listener answers them before the app. */
export function probeRoutes() {
  return [
    control('GET /livez', {
      summary: 'Check that the process responds',
      answer: Live,
      open: true,
      verbatim: true,
      run: () => PROBES['/_sim/livez'],
    }),
    control('GET /readyz', {
      summary: 'Check that the state is loaded and requests are accepted',
      answer: Ready,
      open: true,
      verbatim: true,
      run: () => PROBES['/_sim/readyz'],
    }),
  ];
}

export function emulatorRoutes(parts: AppParts, document: () => Promise<object>) {
  const { runtime, clock, faults } = parts;
  return [
    control('GET /status', {
      summary: 'Version, address, counts and current options',
      answer: Status,
      run: () => {
        const { dataDir, tlsCa, pid, startedAt } = runtime;
        const { secretKey, controlToken, ...options } = runtime.options;
        return {
          version: VERSION,
          mode: dataDir === null ? ('in-memory' as const) : ('on-disk' as const),
          url: runtime.baseUrl(),
          dataDir,
          tlsCa,
          pid,
          startedAt,
          clock: clockView(clock.read()),
          faults: faults.list.map(faultView),
          counts: { ...recordCounts(parts), payments: paymentCounts(parts) },
          fidelity: fidelityIn(options),
          options: {
            ...options,
            secretKey: secretKey === undefined ? null : masked(secretKey),
            controlToken: controlToken === undefined ? null : masked(controlToken),
          },
        };
      },
    }),
    control('GET /openapi.json', {
      summary: 'The OpenAPI document',
      answer: z.custom<object>(),
      verbatim: true,
      run: document,
    }),
    control('POST /shutdown', {
      summary: 'Stop gracefully',
      answer: Stopping,
      run: () => {
        // Sends the response before the server begins to stop.
        setImmediate(() => void runtime.stop());
        const next = runtime.dataDir === null ? null : clock.nextAfterRestart();
        return {
          stopping: true as const,
          pid: runtime.pid,
          nextDue: next === null ? null : timestamp(next),
        };
      },
    }),
  ];
}
