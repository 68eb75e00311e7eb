import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { GatewayError, usage } from '../contract/error.ts';
import { pause, performance } from '../system/real-time.ts';
import { endGroup, OWN_GROUP } from '../system/run-process.ts';

/** Time for a shop to accept connections. */
const START_MS = 60_000;
/** Time for a shop to stop listening. */
const END_MS = 5_000;
const POLL_MS = 50;
/** The end of what a shop writes to stderr says why it does not start. */
const MAX_WORDS = 500;
const said = (words: string) => (words.trim() === '' ? '' : `: ${words.trim()}`);

/** The shop, started by the audit with the user's command, so that it can be started again after a crash. */
export class ShopProcess implements AsyncDisposable {
  readonly #line: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  /** @param env variables in addition to those of this process */
  constructor(line: string, env: Readonly<Record<string, string>>) {
    this.#line = line;
    this.#env = env;
  }

  /**
   * Starts the shop, and ends the process that is left of it.
   *
   * @param isDown whether nothing listens at its address
   * @throws GatewayError `timed_out` if it does not listen in time; `check_failed` if its command ends; `usage` if another
   *   program listens there
   */
  async restart(isDown: () => Promise<boolean>): Promise<void> {
    const isFirst = this.#child === undefined;
    await this[Symbol.asyncDispose]();
    if (isFirst && !(await isDown()))
      throw usage(
        'something is listening at the address of the IPN handler already: stop it, or omit --shop to audit it as it is',
      );
    // Its processes end after its shell. A shop in the background, or in a container, may go on.
    const endBy = performance.now() + END_MS;
    while (!(await isDown()) && performance.now() < endBy) await pause(POLL_MS);
    const child = spawn(this.#line, {
      shell: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...this.#env },
      detached: OWN_GROUP,
    });
    this.#child = child;
    let ended: string | undefined;
    let words = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-MAX_WORDS);
    });
    child.on('error', ({ message }) => {
      ended = message;
    });
    // Not at its exit: a shop may go on in the background, and stderr may not be read yet.
    child.on('close', (code, signal) => {
      ended ??= `it ended with ${signal ?? `code ${code}`}`;
    });
    const deadline = performance.now() + START_MS;
    while (await isDown()) {
      if (ended !== undefined)
        throw new GatewayError(
          'check_failed',
          `the shop \`${this.#line}\` does not start: ${ended}${said(words)}`,
        );
      if (performance.now() > deadline)
        throw new GatewayError(
          'timed_out',
          `the shop \`${this.#line}\` does not listen within 60 s${said(words)}`,
        );
      await pause(POLL_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    endGroup(child.pid);
    await exited;
  }
}
