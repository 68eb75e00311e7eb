/** A style sheet or a script as one minified text, made by the build (.config/assets.mjs). */
declare module '*?text' {
  const text: string;
  export default text;
}
