import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Enough to tell a process from a later one with the same number. */
export interface ProcessIdentity {
  pid: number;
  /** When it was started, in the system's own ticks; null where the system does not tell. */
  started: string | null;
}

/** What Linux tells of a process: its state, parent, group, session and so on (proc(5), from the third field). Empty elsewhere. */
export function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Counted behind the command name in brackets, which may hold anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Whether a process of this number runs. One that has ended but whose parent never asked (as in containers) does not. */
export function isAlive(pid: number): boolean {
  // To the system, zero and less stand for groups of processes, and for all of them.
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return !hasEnded(statOf(pid));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Whether a process with this `statOf` has ended. Its first thread may end before the others, which still hold its
 * port and may still write: the 20th field counts them.
 */
export function hasEnded(stat: readonly string[]): boolean {
  return stat[0] === 'Z' && Number(stat[17]) <= 1;
}

export function identityOf(pid: number): ProcessIdentity {
  // The 22nd field.
  return { pid, started: statOf(pid)[19] ?? null };
}

/** Whether this very process still runs. What says no start is not believed where the system tells it. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  return isAlive(pid) && started === identityOf(pid).started;
}

/** Where a process number means something: processes of the same place can see each other. */
export interface Place {
  host: string;
  /** Of the running system; null where it does not tell. */
  boot: string | null;
  /** Containers have one of their own; null where there are none. */
  pidNamespace: string | null;
}

/** The place of this process. */
export function placeOf(): Place {
  const told = (read: () => string) => {
    try {
      return read().trim();
    } catch {
      return null;
    }
  };
  return {
    host: hostname(),
    boot: told(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    pidNamespace: told(() => readlinkSync('/proc/self/ns/pid')),
  };
}

/** Whether a process with this place cannot be seen from here. What a place does not tell is taken to be the same. */
export function isElsewhere(place: Partial<Place>): boolean {
  const here = placeOf();
  return (['host', 'boot', 'pidNamespace'] as const).some(
    (part) => (place[part] ?? here[part]) !== here[part],
  );
}
