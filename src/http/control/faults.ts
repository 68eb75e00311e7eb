import { ClearedFaults, ClearQuery, Fault, FaultList, FaultRule, FaultRules } from '../../contract/fault.ts';
import { faultInWords } from '../../domain/fault.ts';
import { timestamp } from '../../domain/settings.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';
import { faultView } from './views.ts';

const TAG = 'Control: faults';

/** Routes of `/_sim/faults`. */
export function faultRoutes(parts: AppParts) {
  const { faults, activity, gateway } = parts;
  const list = () => ({ data: faults.list.map(faultView), nextCursor: null });
  const say = (text: string) => activity.notice(timestamp(gateway.now()), text);
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
      ({ body }) => setFault(parts, body),
    ),
    control(
      'PUT /faults',
      { tag: TAG, summary: 'Set these rules and no others', body: FaultRules, answer: FaultList },
      ({ body }) => {
        faults.replace(body.faults);
        for (const fault of faults.list) say(`FAULT ON  ${faultInWords(fault)}`);
        if (!faults.list.length) say('all faults are off');
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
      ({ query }) => ({ cleared: clearFaults(parts, query.route), ...list() }),
    ),
  ] as const;
}

/** Sets one rule and says so in the log. */
export function setFault({ faults, activity, gateway }: AppParts, rule: FaultRule): Fault {
  const fault = faults.set(rule);
  activity.notice(timestamp(gateway.now()), `FAULT ON  ${faultInWords(fault)}`);
  return faultView(fault);
}

/** Clears rules, says so in the log, and tells how many there were. */
export function clearFaults(
  { faults, activity, gateway }: AppParts,
  route?: string,
  only?: { identifier: string | undefined },
): number {
  const cleared = faults.clear(route, only);
  const text = faults.areOn
    ? `${cleared} fault ${cleared === 1 ? 'rule is' : 'rules are'} off`
    : 'all faults are off';
  if (cleared) activity.notice(timestamp(gateway.now()), text);
  return cleared;
}
