import { ref } from '../../contract/json-schema.ts';
import type { Dialect } from '../../wire/dialect.ts';
import type { OperationObject } from '../openapi-operation.ts';
import { FORM_TYPE, JSON_TYPE } from '../operation.ts';

const header = (name: string, description: string, required = true) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
});

/** What the service posts to a merchant. */
export const ipnOperation = ({ messages }: Dialect): OperationObject => ({
  operationId: 'ipn',
  tags: ['Service: payments'],
  summary: 'Instant payment notification',
  description:
    'Posted to the ipn_url of a payment when it succeeds, on other outcomes only with --ipn-on. Source: documented.',
  'x-source': 'documented',
  parameters: [
    header('User-Agent', 'gateway-sim and its version (chosen).'),
    header('X-Gateway-Sim', 'Always 1: nothing here comes from a real gateway (chosen).'),
    header('X-Gateway-Sim-Delivery', 'Id of the delivery: the same for every attempt (chosen).'),
    header('X-Gateway-Sim-Attempt', 'Counts from 1 (chosen).'),
    header('X-Gateway-Sim-Original-Url', 'With --forward-ipn: the ipn_url (chosen).', false),
  ],
  requestBody: {
    required: true,
    content: { [FORM_TYPE]: { schema: ref(messages.Ipn) }, [JSON_TYPE]: { schema: ref(messages.Ipn) } },
  },
  responses: {
    '2XX': { description: 'Delivered (chosen).' },
    default: { description: 'Anything else, or nothing within 10 s: retried by the schedule (chosen).' },
  },
});
