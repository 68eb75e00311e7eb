/** The number of manifest lines for each profile, counted by the build (.config/assets.mjs). */
declare module '*?score' {
  const scores: Readonly<
    Record<string, Readonly<Record<'lines' | 'documented' | 'observed' | 'chosen', number>>>
  >;
  export default scores;
}

/** The ids of a manifest's lines, in order. */
declare module '*?ids' {
  const ids: readonly string[];
  export default ids;
}
