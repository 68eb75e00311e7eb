/** A file as text from the build (.config/assets.mjs). */
declare module '*?text' {
  const text: string;
  export default text;
}
