/** How to look at an order, and what else changes with a payment. */
export interface ProbeOptions {
  /** Command or function that places an order, instead of `orderUrl`. The last line of its output is `{order}`. */
  orderCmd?: string | undefined;
  order?: (() => unknown) | undefined;
  /** Address that returns the order, such as `http://localhost:3000/orders/{identifier}`. */
  probeUrl?: string | undefined;
  /** Command or function that reports an order, instead of `probeUrl`. In a command, `{identifier}` becomes a variable. */
  probeCmd?: string | undefined;
  probe?: ((identifier: string) => unknown) | undefined;
  /** More probes by name: commands or addresses. Their output must not change when a case must have no effect. */
  probes?: Readonly<Record<string, string | ((identifier: string) => unknown)>> | undefined;
  /** Condition for a paid order: `.path=value` for JSON, or `/regular expression/`. */
  paidWhen?: string | undefined;
  /** Time limit for a response of the shop in milliseconds, at most one hour. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** Ends all of it immediately: aborts requests, and kills commands with their child processes. */
  cancelled?: AbortSignal | undefined;
}
