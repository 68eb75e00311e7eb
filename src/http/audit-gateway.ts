import type { AuditGateway } from '../audit/gateway.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditReport } from '../contract/audit-report.ts';
import type { SettleInput } from '../contract/payment.ts';
import { withPaymentDefaults } from '../contract/sample-values.ts';
import { listPage, maskedRequest, paymentView, settledView } from './control/views.ts';
import type { ViewDependencies } from './environment.ts';

/** The gateway of an audit inside the emulator, without HTTP requests to itself. */
function auditGateway(parts: ViewDependencies, egress: AuditGateway['egress']): AuditGateway {
  const { dialect, events, merchants, payments, runtime, secrets } = parts;
  const settle = async (id: string, how: SettleInput) => {
    const { by = 'control', ...rest } = how;
    return settledView(await payments.settle(id, { ...rest, by }), parts);
  };
  return {
    egress,
    get url() {
      return runtime.baseUrl();
    },
    get publicKey() {
      return merchants.default.publicKey;
    },
    get secretKey() {
      return merchants.default.secretKey;
    },
    mask: secrets.mask,
    // An audit from a page or the API runs no commands, so it needs no variables.
    env: {},
    payments: {
      list: async ({ limit, cursor }) =>
        listPage(
          payments.all,
          { limit, cursor: cursor === undefined ? undefined : Number(cursor) },
          (payment) => paymentView(payment, parts),
        ),
      create: async ({ mode = 'sandbox', ...values }) => {
        const { publicKey } = merchants.default;
        const fields = withPaymentDefaults(values, { baseUrl: runtime.baseUrl(), publicKey });
        const { form = {} } = dialect.merchant.initiate(mode, fields);
        return paymentView(await payments.initiate({ fields: form, text: '' }, mode), parts);
      },
      approve: (id, how) => settle(id, { ...how, outcome: 'approve' }),
      cancel: (id, how) => settle(id, { ...how, outcome: 'cancel' }),
    },
    requests: {
      list: async ({ payment }) => {
        const found = payment === undefined ? events.requests() : events.requestsAbout(payment);
        return { data: found.map((request) => maskedRequest(request, parts)) };
      },
    },
  };
}

/** Audits a shop with the egress rules of the emulator. Loads the audit on first use. */
export async function auditShop(
  parts: ViewDependencies,
  egress: AuditGateway['egress'],
  options: AuditOptions,
): Promise<AuditReport> {
  const [{ audit }, tools] = await Promise.all([import('../audit/audit.ts'), parts.dialect.merchant.ipn()]);
  return audit(auditGateway(parts, egress), tools, options);
}
