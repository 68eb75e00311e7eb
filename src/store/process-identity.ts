import { readFileSync } from 'node:fs';

/** Distinguishes a process from a later one with the same PID. */
export interface ProcessIdentity {
  pid: number;
  /** Start time in system ticks; null if the system does not report it. */
  started: string | null;
}

/** A process's fields from /proc/<pid>/stat (proc(5)), from the third one on. Empty on systems other than Linux. */
export function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Start after the command name in brackets, which can contain any characters.
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Whether a process with this PID is running. A zombie, as is common in containers, is not. */
export function isAlive(pid: number): boolean {
  // Zero and negative numbers mean process groups, or all processes.
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return !hasEnded(statOf(pid));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Whether a process with these `statOf` fields has ended. Its main thread can end before the others, which still use its
 * port and can still write. The 20th field is the number of threads.
 */
export function hasEnded(stat: readonly string[]): boolean {
  return stat[0] === 'Z' && Number(stat[17]) <= 1;
}

export function identityOf(pid: number): ProcessIdentity {
  // The start time is the 22nd field.
  return { pid, started: statOf(pid)[19] ?? null };
}

/** Whether this process is still running. If the system reports start times, an identity without one never matches. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  return isAlive(pid) && started === identityOf(pid).started;
}
