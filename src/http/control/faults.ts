import { ClearedFaults, ClearQuery, Fault, FaultList, FaultRule, FaultRules } from '../../contract/fault.ts';
import type { AppParts } from '../environment.ts';
import { wholeList } from './list.ts';
import { control } from './route.ts';
import { faultView } from './views.ts';

export function faultRoutes({ faults }: AppParts) {
  const list = () => wholeList(faults.list.map(faultView));
  return [
    control('GET /faults', {
      summary: 'Fault rules, in the order of evaluation',
      answer: FaultList,
      run: list,
    }),
    control('POST /faults', {
      summary: 'Set one rule',
      description: 'It replaces the rule with the same route and identifiers.',
      body: FaultRule,
      answer: Fault,
      status: 201,
      run: ({ body }) => faultView(faults.set(body)),
    }),
    control('PUT /faults', {
      summary: 'Replace all rules',
      body: FaultRules,
      answer: FaultList,
      run: ({ body }) => {
        faults.replace(body.faults);
        return list();
      },
    }),
    control('DELETE /faults', {
      summary: 'Clear all rules, or the rules of one route',
      query: ClearQuery,
      answer: ClearedFaults,
      run: ({ query }) => ({ cleared: faults.clear(query.route), ...list() }),
    }),
  ];
}
