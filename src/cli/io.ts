import type { Readable, Writable } from 'node:stream';

/** The process around a command. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  signals: Pick<NodeJS.EventEmitter, 'on' | 'once' | 'off'>;
  env: Readonly<Record<string, string | undefined>>;
  /** Paths on the command line are relative to this folder. */
  cwd: string;
}
