/** A line of the manifest that does not hold at a target. */
export interface Difference {
  id: string;
  expected: string;
  got: string;
}

/** A line that could not be tried there. */
export interface UnseenLine {
  id: string;
  why: string;
}

/** What several differences have in common. */
export interface Cause {
  cause: string;
  ids: string[];
}

/** What came of holding a manifest against a target. */
export interface ConformReport {
  target: string;
  profile: string;
  /** How many lines hold. */
  agree: number;
  differ: Difference[];
  /** Each difference once, by what it comes from; biggest first. */
  causes: Cause[];
  unseen: UnseenLine[];
}
