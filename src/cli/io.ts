import type { Readable, Writable } from 'node:stream';
import { GatewayError } from '../contract/error.ts';

export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  /** Emits the signals for this command. */
  signals: Pick<NodeJS.EventEmitter, 'on' | 'once' | 'off'>;
  env: Readonly<Record<string, string | undefined>>;
  /** Paths on the command line are relative to this folder. */
  cwd: string;
}

/**
 * Asks for confirmation before an irreversible change, but only on a terminal and without --yes.
 *
 * @throws GatewayError `check_failed` for any answer but yes
 */
export async function confirm(
  question: string,
  { options, io }: { options: { yes: true | undefined }; io: Io },
): Promise<void> {
  if (options.yes || !io.stdin.isTTY) return;
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: io.stdin, output: io.stderr });
  try {
    // Ctrl-C and Ctrl-D close it without an answer.
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new GatewayError('check_failed', 'nothing was changed');
  } finally {
    terminal.close();
  }
}
