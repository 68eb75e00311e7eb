/** A style sheet or a script as minified text from the build (.config/assets.mjs). */
declare module '*?text' {
  const text: string;
  export default text;
}
