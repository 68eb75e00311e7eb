import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from './real-time.ts';
import { endGroup, OWN_GROUP } from './run-process.ts';

interface ProcessToOpen {
  file: string;
  args: readonly string[];
  /** Variables, in addition to those of this process. */
  env: Readonly<Record<string, string>>;
  /** Maximum time for a response, in real milliseconds. */
  limitMs: number;
  /** Maximum characters of a response. */
  maxOutput: number;
}

/** What a process printed for a request. */
interface Response {
  stdout: string;
  stderr: string;
  /** Whether it was ended because it printed more than the maximum. */
  isCut: boolean;
  /** How it ended instead of a complete response, in words. */
  problem: string | undefined;
}

/**
 * A process that stays open and responds to one request at a time. It does not keep this process alive, and ends with it,
 * because its standard input ends then.
 */
export class OpenProcess {
  readonly #process: ProcessToOpen;
  readonly #child: ChildProcessWithoutNullStreams;
  /** What it has printed since the last response. */
  #printed: Response = { stdout: '', stderr: '', isCut: false, problem: undefined };
  #onOutput = (_piece: string) => {};
  #onEnd = () => {};

  private constructor(process: ProcessToOpen, child: ChildProcessWithoutNullStreams) {
    this.#process = process;
    this.#child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#printed.stdout += text;
      this.#onOutput(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#printed.stderr += text;
    });
    // A process that has ended reads nothing.
    child.stdin.on('error', () => {});
    child.on('close', (code, signal) => {
      const [said = ''] = this.#printed.stderr.trim().split('\n');
      const how = signal ? `was killed by ${signal}` : `exited with code ${code}`;
      this.#end(`${how}${said && `: ${said.slice(0, 200)}`}`);
    });
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as Socket).unref();
  }

  /** Starts a process. @returns undefined if there is no such program @throws Error if it cannot be run */
  static async open(process: ProcessToOpen): Promise<OpenProcess | undefined> {
    const child = spawn(process.file, process.args, {
      stdio: 'pipe',
      env: { ...globalThis.process.env, ...process.env },
      // A signal of the terminal is for this process.
      detached: OWN_GROUP,
    });
    try {
      await once(child, 'spawn');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return new OpenProcess(process, child);
  }

  /**
   * What the process prints for a request, up to a line that the request makes it print last. What it prints to its
   * standard error may come later.
   */
  ask(request: string, lastLine: string): Promise<Response> {
    const { limitMs, maxOutput } = this.#process;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#kill(`did not finish within ${limitMs / 1_000} s`), limitMs);
      this.#onEnd = () => {
        clearTimeout(timer);
        resolve(this.#printed);
      };
      if (this.#printed.problem !== undefined) return this.#onEnd();
      let tail = '';
      this.#onOutput = (piece) => {
        if (this.#printed.stdout.length > maxOutput) {
          this.#printed.isCut = true;
          this.#kill('printed too much');
          return;
        }
        // Only the end of a long response is searched.
        tail = (tail + piece).slice(-lastLine.length - 3);
        if (!`\n${tail.replace(/\r?\n$/, '\n')}`.endsWith(`\n${lastLine}\n`)) return;
        clearTimeout(timer);
        const printed = this.#printed;
        this.#printed = { ...printed, stdout: '', stderr: '' };
        this.#onOutput = () => {};
        this.#onEnd = () => {};
        resolve({ ...printed, stdout: printed.stdout.slice(0, printed.stdout.lastIndexOf(lastLine)) });
      };
      this.#child.stdin.write(request);
    });
  }

  /** Ends it without waiting for anything. */
  kill(): void {
    this.#kill('was ended');
  }

  #kill(why: string): void {
    this.#end(why);
    endGroup(this.#child.pid);
  }

  #end(why: string): void {
    this.#printed.problem ??= why;
    this.#onEnd();
  }
}
