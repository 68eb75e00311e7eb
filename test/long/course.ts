import type { Emulator } from './emulator.ts';
import type { Budget } from './trial.ts';

interface Answered<Body> {
  status: number;
  body: Body;
}

/** An emulator, its receiver, and requests that are counted. */
export class Course {
  readonly sim: Emulator;
  readonly #receiver: string;
  readonly #budget: Budget;
  #orders = 0;

  /** @param receiver the address of one, without a path */
  constructor(sim: Emulator, receiver: string, budget: Budget) {
    this.sim = sim;
    this.#receiver = receiver;
    this.#budget = budget;
  }

  async ask<Body>(path: string, body?: object, method = 'POST'): Promise<Answered<Body>> {
    const response = await fetch(this.sim.url + path, {
      redirect: 'manual',
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    this.#budget.requests();
    const text = await response.text();
    if (response.status >= 500)
      this.#budget.fail('5xx', `${response.status} from ${path}: ${text.slice(0, 300)}`);
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : ({} as Body) };
  }

  /** Initiates a live payment. Returns its id, or undefined if it was rejected. */
  async initiate(ipnPath = '/ipn'): Promise<string | undefined> {
    const { body } = await this.ask<{ url?: string }>('/payment/initiate', {
      public_key: this.sim.publicKey,
      identifier: `race-${this.#orders++}`,
      currency: 'USD',
      amount: '10.00',
      details: 'A race',
      ipn_url: this.#receiver + ipnPath,
      success_url: 'http://127.0.0.1:9/paid',
      cancel_url: 'http://127.0.0.1:9/canceled',
      site_logo: 'http://127.0.0.1:9/logo.png',
      customer_name: 'Ada',
      customer_email: 'wallet@example.com',
    });
    return body.url === undefined
      ? undefined
      : (new URL(body.url).searchParams.get('payment_id') ?? undefined);
  }

  broken(what: string, seen: unknown): void {
    this.#budget.fail('lost', `${what}: ${JSON.stringify(seen).slice(0, 400)}`);
  }
}
