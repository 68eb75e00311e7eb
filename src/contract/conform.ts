/** A line of the manifest that a target does not match. */
export interface Difference {
  id: string;
  expected: string;
  got: string;
}

/** A line that could not be tested. */
interface UnseenLine {
  id: string;
  why: string;
}

/** A cause that several differences have in common. */
export interface Cause {
  cause: string;
  ids: string[];
}

/** The result of checking a target against a manifest. */
export interface ConformReport {
  target: string;
  profile: string;
  /** Number of matching lines. */
  agree: number;
  differ: Difference[];
  /** The differences grouped by cause, largest group first. */
  causes: Cause[];
  unseen: UnseenLine[];
}
