import { ClearedFaults, ClearQuery, Fault, FaultList, FaultRule, FaultRules } from '../../contract/fault.ts';
import type { AppParts } from '../environment.ts';
import { wholeList } from './list.ts';
import { control } from './route.ts';
import { faultView } from './views.ts';

export function faultRoutes({ faults }: AppParts) {
  const list = () => wholeList(faults.list.map(faultView));
  return [
    control('GET /faults', {
      summary: 'Fault rules, in the order in which they are tried',
      answer: FaultList,
      run: list,
    }),
    control('POST /faults', {
      summary: 'Set one rule',
      description: 'It takes the place of the one on the same route and identifiers.',
      body: FaultRule,
      answer: Fault,
      status: 201,
      run: ({ body }) => faultView(faults.set(body)),
    }),
    control('PUT /faults', {
      summary: 'Set these rules and no others',
      body: FaultRules,
      answer: FaultList,
      run: ({ body }) => {
        faults.replace(body.faults);
        return list();
      },
    }),
    control('DELETE /faults', {
      summary: 'Clear all rules, or those on one route',
      query: ClearQuery,
      answer: ClearedFaults,
      run: ({ query }) => ({ cleared: faults.clear(query.route), ...list() }),
    }),
  ];
}
