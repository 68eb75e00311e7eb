import { type ActiveFault, describeFault } from '../contract/active-fault.ts';
import type { FaultRule } from '../contract/fault.ts';
import type { UseCaseParts } from './parts.ts';

/** The use cases of fault rules: each is reported in the log. */
export function faultUseCases({ events, faults }: UseCaseParts) {
  const report = (fault: ActiveFault) => events.notice(`FAULT ON  ${describeFault(fault)}`);
  return {
    /** For what acts on them. */
    rules: faults,

    /** The rules in the order in which they are tried, spent ones included. */
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

    /** Sets these rules and no others. */
    replace(rules: readonly FaultRule[]): void {
      faults.replace(rules);
      faults.list.forEach(report);
      if (!faults.list.length) events.notice('all faults are off');
    },

    /** Removes all rules, those on one route, or only the one there for these identifiers. Returns how many. */
    clear(route?: string, only?: { identifier: string | undefined }): number {
      const cleared = faults.clear(route, only);
      const some = `${cleared} fault ${cleared === 1 ? 'rule is' : 'rules are'} off`;
      if (cleared) events.notice(faults.areOn ? some : 'all faults are off');
      return cleared;
    },
  };
}
