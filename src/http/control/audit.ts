import { AuditRequest, AuditRun } from '../../contract/audit-report.ts';
import { GatewayError } from '../../contract/error.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';

export function auditRoutes({ audits }: AppParts) {
  return [
    control('POST /audit', {
      summary: "Start an audit: attack a shop's IPN handler and check the result",
      description:
        'It runs in the background, and each step is an event. This route accepts URLs only; `gateway-sim audit` and the library also run commands and code.',
      body: AuditRequest,
      answer: AuditRun,
      status: 202,
      errors: [409],
      run: ({ body }) => audits.start(body),
    }),
    control('GET /audit', {
      summary: 'The current audit, or the last one',
      answer: AuditRun,
      errors: [404],
      run: () => {
        if (audits.last) return audits.last;
        throw new GatewayError('not_found', 'no audit has run since the emulator started');
      },
    }),
  ];
}
