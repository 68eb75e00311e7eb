import { type ActiveFault, describeFault } from '../contract/active-fault.ts';
import type { FaultRule } from '../contract/fault.ts';
import type { UseCaseParts } from './parts.ts';

/** The use cases of fault rules. Every change is reported in the log. */
export function faultUseCases({ events, faults }: UseCaseParts) {
  const report = (fault: ActiveFault) => events.notice(`FAULT ON  ${describeFault(fault)}`);
  return {
    /** The rules, for the code that applies them. */
    rules: faults,

    /** All rules in the order of their evaluation, including used-up ones. */
    get list(): readonly ActiveFault[] {
      return faults.list;
    },

    /** Whether any rule can still act. */
    get areOn(): boolean {
      return faults.areOn;
    },

    set(rule: FaultRule): ActiveFault {
      const fault = faults.set(rule);
      report(fault);
      return fault;
    },

    /** Replaces all rules. */
    replace(rules: readonly FaultRule[]): void {
      faults.replace(rules);
      faults.list.forEach(report);
      if (!faults.list.length) events.notice('all faults are off');
    },

    /** Removes all rules, the rules of one route, or only its rule for these identifiers. @returns how many */
    clear(route?: string, only?: { identifier: string | undefined }): number {
      const cleared = faults.clear(route, only);
      const text = `${cleared} fault ${cleared === 1 ? 'rule is' : 'rules are'} off`;
      if (cleared) events.notice(faults.areOn ? text : 'all faults are off');
      return cleared;
    },
  };
}
