import { ClearedFaults, ClearQuery, Fault, FaultList, FaultRule, FaultRules } from '../../contract/fault.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';
import { faultView } from './views.ts';

const TAG = 'Control: faults';

/** Routes of `/_sim/faults`. */
export function faultRoutes({ faults }: AppParts) {
  const list = () => ({ data: faults.list.map(faultView), nextCursor: null });
  return [
    control(
      'GET /faults',
      { tag: TAG, summary: 'Fault rules, in the order in which they are tried', answer: FaultList },
      list,
    ),
    control(
      'POST /faults',
      {
        tag: TAG,
        summary: 'Set one rule',
        description: 'It takes the place of the one on the same route and identifiers.',
        body: FaultRule,
        answer: Fault,
        status: 201,
      },
      ({ body }) => faultView(faults.set(body)),
    ),
    control(
      'PUT /faults',
      { tag: TAG, summary: 'Set these rules and no others', body: FaultRules, answer: FaultList },
      ({ body }) => {
        faults.replace(body.faults);
        return list();
      },
    ),
    control(
      'DELETE /faults',
      {
        tag: TAG,
        summary: 'Clear all rules, or those on one route',
        query: ClearQuery,
        answer: ClearedFaults,
      },
      ({ query }) => ({ cleared: faults.clear(query.route), ...list() }),
    ),
  ] as const;
}
