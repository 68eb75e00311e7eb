import type { ServerRuntime } from './environment.ts';
import { ref, schemas } from './openapi/components.ts';
import { CONTROL_OPERATIONS } from './openapi/control-operations.ts';
import {
  describeOperation,
  EMULATOR_HEADER,
  ERROR_RESPONSES,
  type OperationObject,
} from './openapi/describe.ts';
import { EXAMPLES } from './openapi/examples.ts';
import { FORM_TYPE, JSON_TYPE, type Operation, TAGS } from './openapi/operation.ts';
import { SERVICE_OPERATIONS } from './openapi/service-operations.ts';

/** Every operation of the document, in the order in which they are read. */
const OPERATIONS = [...SERVICE_OPERATIONS, ...CONTROL_OPERATIONS];

const DESCRIPTION = `A local emulator of a hosted payment gateway and virtual-card service. No real money moves.

Each operation, and each field of the service, tells where it comes from, in words and as x-source: documented (the service interface says so), observed (published clients or deployments of it show it), or chosen (ours). Everything under /_sim is chosen.`;

/**
 * The OpenAPI 3.1 document of the service and the control API, made from the schemas that validate. It is not cheap:
 * load this module only when somebody asks.
 */
export function openApiDocument(facts: Pick<ServerRuntime, 'version' | 'baseUrl'>) {
  const paths: Record<string, Partial<Record<Operation['method'], OperationObject>>> = {};
  for (const operation of OPERATIONS) {
    const item = paths[operation.path] ?? {};
    item[operation.method] = describeOperation(operation);
    paths[operation.path] = item;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'gateway-sim',
      version: facts.version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: facts.baseUrl() }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: { ipn: { post: IPN } },
    components: {
      schemas: schemas(),
      responses: ERROR_RESPONSES,
      headers: { Emulator: EMULATOR_HEADER },
      securitySchemes: {
        secretKey: { type: 'http', scheme: 'bearer', description: "The merchant's secret key (documented)." },
        controlToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The control token, asked for when the emulator listens on more than a loopback address; the dashboard keeps it in a cookie.',
        },
      },
    },
  };
}

/** The OpenAPI document. */
export type OpenApiDocument = ReturnType<typeof openApiDocument>;

const ipnHeader = (name: string, description: string, required = true) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
});

const IPN: OperationObject = {
  operationId: 'ipn',
  tags: ['Service: payments'],
  summary: 'Instant payment notification',
  description:
    'Posted to the ipn_url of a payment when it succeeds, on other outcomes only with --ipn-on. Source: documented.',
  'x-source': 'documented',
  parameters: [
    ipnHeader('User-Agent', 'gateway-sim and its version (chosen).'),
    ipnHeader('X-Gateway-Sim', 'Always 1: nothing here comes from a real gateway (chosen).'),
    ipnHeader('X-Gateway-Sim-Delivery', 'Id of the delivery: the same for every attempt (chosen).'),
    ipnHeader('X-Gateway-Sim-Attempt', 'Counts from 1 (chosen).'),
    ipnHeader('X-Gateway-Sim-Original-Url', 'With --forward-ipn: the ipn_url (chosen).', false),
  ],
  requestBody: {
    required: true,
    content: {
      [FORM_TYPE]: { schema: ref('Ipn') },
      [JSON_TYPE]: { schema: ref('Ipn'), examples: { success: { value: EXAMPLES.ipn.success } } },
    },
  },
  responses: {
    '2XX': { description: 'Delivered (chosen).' },
    default: { description: 'Anything else, or nothing within 10 s: tried again by the schedule (chosen).' },
  },
};
