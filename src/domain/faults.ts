import { type ActiveFault, describeFault, isSpent } from '../contract/active-fault.ts';
import { command, GatewayError, hint } from '../contract/error.ts';
import type { FaultRule } from '../contract/fault.ts';
import { MAX_RULES } from '../contract/fault-effects.ts';
import { parseDuration } from '../contract/time.ts';
import type { FaultRoute } from '../contract/vocabulary.ts';

/** The target of a rule: a request to the service, or an IPN. */
export interface FaultSubject {
  route: FaultRoute | null;
  path: string | null;
  identifier?: string | undefined;
}

/** Whether a rule can still act on this request or IPN, whatever its identifier. */
function canAct(fault: ActiveFault, subject: FaultSubject): boolean {
  const { route } = fault.rule;
  if (isSpent(fault)) return false;
  if (!route.startsWith('/')) return route === subject.route;
  return subject.path !== null && globMatches(route, subject.path);
}

/** Whether a text matches a pattern with * as wildcard, in linear time. */
export function globMatches(glob: string, text: string): boolean {
  const [first = '', ...others] = glob.split('*');
  const last = others.pop();
  if (last === undefined) return glob === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

interface FaultOptions {
  /** Returns numbers from 0 up to 1 for probabilities and ranges, repeatable with a seed. */
  fraction: () => number;
  initial?: readonly FaultRule[];
  /** Reports each change, in a sentence. */
  notice?: (text: string) => void;
}

const active = (rules: readonly FaultRule[]): ActiveFault[] => rules.map((rule) => ({ rule, used: 0 }));

/** The active rules. Only the first match applies. */
export class Faults {
  readonly #fraction: () => number;
  readonly #initial: readonly FaultRule[];
  readonly #notice: (text: string) => void;
  #active: ActiveFault[];

  constructor({ fraction, initial = [], notice = () => {} }: FaultOptions) {
    this.#fraction = fraction;
    this.#initial = initial;
    this.#notice = notice;
    this.#active = active(initial);
  }

  /** All rules in the order of their evaluation, including used-up ones. */
  get list(): readonly ActiveFault[] {
    return this.#active;
  }

  /** Whether any rule can still act. */
  get areOn(): boolean {
    return this.#active.some((fault) => !isSpent(fault));
  }

  /** Replaces all rules and resets their counts. */
  replace(rules: readonly FaultRule[]): void {
    this.#active = active(rules);
    for (const fault of this.#active) this.#report(fault);
    if (!rules.length) this.#notice('all faults are off');
  }

  /** Restores the initial rules and resets their counts. */
  reset(): void {
    this.#active = active(this.#initial);
  }

  /**
   * Replaces the rule with the same route and identifiers, or adds a rule at the end.
   *
   * @throws GatewayError `invalid_fields` if there are too many
   */
  set(rule: FaultRule): ActiveFault {
    const fault = { rule, used: 0 };
    const index = this.#active.findIndex(
      ({ rule: other }) => other.route === rule.route && other.identifier === rule.identifier,
    );
    if (index < 0 && this.#active.length >= MAX_RULES) {
      throw new GatewayError('invalid_fields', `too many fault rules: at most ${MAX_RULES} are allowed`, {
        hint: hint`Remove rules with: ${command('faults clear')}`,
      });
    }
    this.#active[index < 0 ? this.#active.length : index] = fault;
    this.#report(fault);
    return fault;
  }

  /**
   * Removes all rules, the rules of one route, or only its rule for these identifiers.
   *
   * @returns how many were removed
   */
  clear(route?: string, only?: { identifier: string | undefined }): number {
    const before = this.#active.length;
    const isCleared = ({ rule }: ActiveFault) =>
      route === undefined || (rule.route === route && (!only || rule.identifier === only.identifier));
    this.#active = this.#active.filter((fault) => !isCleared(fault));
    const cleared = before - this.#active.length;
    const text = `${cleared} fault ${cleared === 1 ? 'rule is' : 'rules are'} off`;
    if (cleared) this.#notice(this.areOn ? text : 'all faults are off');
    return cleared;
  }

  needsIdentifier(subject: FaultSubject): boolean {
    return this.#active.some((fault) => fault.rule.identifier !== undefined && canAct(fault, subject));
  }

  /** Returns the rule that acts now and counts the use; undefined if none does. */
  take(subject: FaultSubject): FaultRule | undefined {
    const acting = this.#active.find((fault) => this.#acts(fault, subject));
    if (!acting) return undefined;
    acting.used++;
    return acting.rule;
  }

  #report(fault: ActiveFault): void {
    this.#notice(`FAULT ON  ${describeFault(fault)}`);
  }

  #acts(fault: ActiveFault, subject: FaultSubject): boolean {
    const { identifier = '*', probability } = fault.rule;
    if (!canAct(fault, subject) || !globMatches(identifier, subject.identifier ?? '')) return false;
    return probability === undefined || this.#fraction() < probability;
  }

  /** The latency of a rule, in milliseconds of real time. */
  latencyOf({ latency }: FaultRule): number {
    if (latency === undefined) return 0;
    const [low = 0, high = low] = latency.split('..').map((part) => parseDuration(part) ?? 0);
    return low === high ? low : Math.round(low + this.#fraction() * (high - low));
  }
}
