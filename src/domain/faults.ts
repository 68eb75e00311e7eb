import { type ActiveFault, isSpent } from '../contract/active-fault.ts';
import { parseDuration } from '../contract/duration.ts';
import { GatewayError } from '../contract/error.ts';
import { type FaultRule, MAX_RULES } from '../contract/fault.ts';
import { command, hint } from '../contract/hint.ts';
import type { FaultRoute } from '../contract/vocabulary.ts';

/** The target of a rule: a request to the service, or an IPN. */
export interface FaultSubject {
  /** The name of the route, or null. */
  route: FaultRoute | null;
  /** The path of a request; null for an IPN. */
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

/** The active rules. Only the first match applies. */
export class Faults {
  readonly #fraction: () => number;
  #active: ActiveFault[] = [];

  /** @param fraction returns numbers from 0 up to 1 for probabilities and ranges, repeatable with a seed */
  constructor(fraction: () => number) {
    this.#fraction = fraction;
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
    this.#active = rules.map((rule) => ({ rule, used: 0 }));
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
    return before - this.#active.length;
  }

  /** Whether the choice of the rule depends on the identifier. */
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
