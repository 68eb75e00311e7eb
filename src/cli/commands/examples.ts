/** The examples at the end of a command's help, as `addHelpText` takes them. */
export function examples(...lines: readonly string[]): ['after', string] {
  const heading = lines.length > 1 ? 'Examples' : 'Example';
  return ['after', `\n${heading}:\n${lines.map((line) => `  ${line}`).join('\n')}`];
}
