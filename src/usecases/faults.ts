import { type ActiveFault, describeFault } from '../contract/active-fault.ts';
import type { FaultRule } from '../contract/fault.ts';
import type { Faults } from '../domain/faults.ts';
import { notice, type UseCaseParts } from './parts.ts';

/** The use cases of fault rules: each is reported in the log. */
export class FaultUseCases {
  /** The rules in force, for what acts on them. */
  readonly rules: Faults;
  readonly #parts: Pick<UseCaseParts, 'clock' | 'events'>;

  constructor(parts: Pick<UseCaseParts, 'clock' | 'events'>, rules: Faults) {
    this.#parts = parts;
    this.rules = rules;
  }

  /** The rules in the order in which they are tried, spent ones included. */
  get list(): readonly ActiveFault[] {
    return this.rules.list;
  }

  /** Whether any rule can still act. */
  get areOn(): boolean {
    return this.rules.areOn;
  }

  /** Sets one rule. */
  set(rule: FaultRule): ActiveFault {
    const fault = this.rules.set(rule);
    this.#report(fault);
    return fault;
  }

  /** Sets these rules and no others. */
  replace(rules: readonly FaultRule[]): void {
    this.rules.replace(rules);
    for (const fault of this.list) this.#report(fault);
    if (!this.list.length) notice(this.#parts, 'all faults are off');
  }

  /**
   * Removes all rules, those on one route, or only the one there for these identifiers.
   *
   * @returns how many were removed
   */
  clear(route?: string, only?: { identifier: string | undefined }): number {
    const cleared = this.rules.clear(route, only);
    const some = `${cleared} fault ${cleared === 1 ? 'rule is' : 'rules are'} off`;
    if (cleared) notice(this.#parts, this.areOn ? some : 'all faults are off');
    return cleared;
  }

  #report(fault: ActiveFault): void {
    notice(this.#parts, `FAULT ON  ${describeFault(fault)}`);
  }
}
