import { command, type ErrorDetails, GatewayError, hint, option } from '../contract/error.ts';
import { reason } from '../system/files.ts';

/** The error for a folder that is no longer the locked one, or no longer has its journal. */
export function replaced(folder: string): GatewayError {
  return new GatewayError(
    'storage_failed',
    `the data folder ${folder}, or its lock or journal, was removed, moved or replaced while gateway-sim was using it: changes are no longer stored, and anything at this path is left unchanged`,
    { hint: hint`Move it back, or stop this emulator and start another one.` },
  );
}

/** Why a snapshot was not written, in words. Nothing is lost, but people who read db.json should know. */
export function outdated(error: unknown): string {
  return error instanceof GatewayError
    ? error.message
    : `db.json could not be updated (${reason(error)}): the changes are in journal.jsonl next to it`;
}

/** The error for a state that cannot be read. By default, its hint is to restore a copy or start over. */
export function damaged(problem: string, details: ErrorDetails = {}): GatewayError {
  const fix = hint`Restore a good copy, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`;
  return new GatewayError('state_damaged', problem, { hint: fix, ...details });
}
