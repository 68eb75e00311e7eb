/** The number of manifest lines for each profile, counted by the build (.config/assets.mjs). */
declare module '*?score' {
  const scores: Readonly<
    Record<string, Readonly<Record<'lines' | 'documented' | 'observed' | 'chosen', number>>>
  >;
  export default scores;
}

/** The lines of a manifest in order: what each proves, and its source. */
declare module '*?lines' {
  const lines: readonly {
    id: string;
    source: 'documented' | 'observed' | 'chosen';
    proves: readonly string[];
  }[];
  export default lines;
}
