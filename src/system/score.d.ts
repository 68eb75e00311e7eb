/** How many lines of a manifest hold under each profile, counted by the build (.config/assets.mjs). */
declare module '*?score' {
  const scores: Readonly<
    Record<string, Readonly<Record<'lines' | 'documented' | 'observed' | 'chosen', number>>>
  >;
  export default scores;
}

/** The ids of the lines of a manifest, in their order. */
declare module '*?ids' {
  const ids: readonly string[];
  export default ids;
}
