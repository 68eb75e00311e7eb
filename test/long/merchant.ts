import type { Snapshot } from '../../src/store/snapshot.ts';
import { fields } from '../helpers/records.ts';
import type { Ledger } from './ledger.ts';
import type { Budget } from './trial.ts';

/** After this time, a request counts as hung. */
const HANGS_MS = 20_000;

const NOT_STORED = 507;

/** An emulator to send requests to. */
interface Target {
  url: string;
  publicKey: string;
  secretKey: string;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** Acts as merchant, customer and tester, and records every acknowledged fact. */
export class Merchant {
  readonly #target: Target;
  readonly #ledger: Ledger;
  readonly #budget: Budget;
  /** The receiver of IPNs. */
  readonly #ipnUrl: string;

  constructor(target: Target, ledger: Ledger, budget: Budget, ipnUrl = 'http://127.0.0.1:9/ipn') {
    this.#target = target;
    this.#ledger = ledger;
    this.#budget = budget;
    this.#ipnUrl = ipnUrl;
  }

  /** Sends a request. @returns undefined if the emulator ended before the response was complete */
  async #ask(method: string, path: string, body?: unknown, token?: string): Promise<Answer | undefined> {
    const { url } = this.#target;
    const isForm = body instanceof URLSearchParams;
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(HANGS_MS),
      });
      const answer = { status: response.status, body: (await response.json()) as Answer['body'] };
      this.#budget.requests();
      if (answer.status >= 500 && answer.status !== NOT_STORED)
        this.#budget.fail('5xx', `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer;
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') this.#budget.fail('hang', `${method} ${path}`);
      return undefined;
    }
  }

  /** @returns the status of the response */
  async initiate(identifier: string, mode: 'sandbox' | 'live' = 'sandbox', details = 'Books') {
    const changes = { identifier, details, public_key: this.#target.publicKey, ipn_url: this.#ipnUrl };
    const body = new URLSearchParams(fields(changes) as Record<string, string>);
    const path = mode === 'live' ? '/payment/initiate' : '/sandbox/payment/initiate';
    const answer = await this.#ask('POST', path, body);
    if (answer?.body['success'] === 'ok') this.#ledger.payment(identifier, 'pending');
    else if (answer?.status === NOT_STORED) this.#ledger.refused(identifier);
    return answer?.status;
  }

  async approve(identifier: string): Promise<void> {
    const answer = await this.#ask('POST', `/_sim/payments/${identifier}/settle`, { outcome: 'approve' });
    if (answer?.status === 200) this.#ledger.payment(identifier, 'succeeded');
  }

  /** Creates a card and charges it. */
  async card(): Promise<void> {
    const card = {
      currency_code: 'USD',
      title: 'Travel',
      name_on_card: 'Ada',
      email: 'ada@example.com',
      amount: '250',
    };
    const created = await this.#ask('POST', '/api/cards/save', card, this.#target.secretKey);
    const id = (created?.body['data'] as { id: string } | undefined)?.id;
    if (created?.status !== 200 || id === undefined) return;
    this.#ledger.card(id);
    const payment = { type: 'charge', amount: '12.50' };
    const paid = await this.#ask('POST', `/_sim/cards/${id}/transactions`, payment);
    if (paid?.status === 200) this.#ledger.transaction((paid.body['transaction'] as { id: string }).id);
  }

  /** Lists payments, and so acknowledges their status. */
  async list(): Promise<void> {
    const answer = await this.#ask('GET', '/_sim/payments?limit=100');
    const payments = answer?.body['data'] as { identifier: string; status: string }[] | undefined;
    for (const { identifier, status } of payments ?? []) this.#ledger.payment(identifier, status);
  }

  /** Exports the state and imports it again. */
  async restore(): Promise<void> {
    const state = await this.#ask('GET', '/_sim/snapshot');
    if (state?.status === 200) await this.#ask('PUT', '/_sim/snapshot', state.body);
  }

  async snapshot(): Promise<Snapshot> {
    const answer = await this.#ask('GET', '/_sim/snapshot');
    if (answer?.status !== 200)
      throw new Error(`the export of the state was answered with ${answer?.status}`);
    return answer.body as unknown as Snapshot;
  }

  /** Checks that the emulator still has every recorded fact. */
  async expectNothingLost(when: string): Promise<void> {
    const lost = this.#ledger.lostIn(await this.snapshot());
    for (const problem of lost.slice(0, 5)) this.#budget.fail('lost', `${when}: ${problem}`);
  }

  async post(path: string, body: object): Promise<Answer | undefined> {
    return this.#ask('POST', path, body);
  }

  /** Repeats these actions until `isOver` returns true or the emulator ends. */
  async work(name: string, isOver: () => boolean, details?: string): Promise<void> {
    for (let number = 0; !isOver(); number++) {
      const identifier = `${name}-${number}`;
      const status = await this.initiate(identifier, number % 3 ? 'sandbox' : 'live', details);
      if (status === undefined) return;
      if (number % 4 !== 3) await this.approve(identifier);
      if (number % 5 === 0) await this.list();
      if (number % 7 === 0) await this.card();
    }
  }
}
