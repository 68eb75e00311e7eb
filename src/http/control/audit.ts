import { AuditRequest, AuditRun } from '../../contract/audit-report.ts';
import { GatewayError } from '../../contract/error.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';

export function auditRoutes({ audits }: AppParts) {
  return [
    control('POST /audit', {
      summary: "Start an audit: attack a shop's IPN handler, and look at what the shop did",
      description:
        'It goes on by itself, and each of its steps is an event. By addresses only: `gateway-sim audit` and the library run commands and code, too.',
      body: AuditRequest,
      answer: AuditRun,
      status: 202,
      errors: [409],
      run: ({ body }) => audits.start(body),
    }),
    control('GET /audit', {
      summary: 'The audit that runs, or ran last',
      answer: AuditRun,
      errors: [404],
      run: () => {
        if (audits.last) return audits.last;
        throw new GatewayError('not_found', 'no audit was started since this emulator was');
      },
    }),
  ];
}
