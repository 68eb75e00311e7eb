/**
 * Reads the command line: names of sections, `--json [file]`, `--markdown`.
 *
 * @param names the names of all sections
 * @returns the sections and the form of the report; or a `problem`, which lists the valid names
 */
export function chosen(names, args = process.argv.slice(2)) {
  const named = [];
  const choice = { json: undefined, markdown: false };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (names.includes(arg)) named.push(arg);
    else if (arg === '--markdown') choice.markdown = true;
    else if (arg === '--json') choice.json = isFile(args[at + 1], names) ? args[++at] : '-';
    else return { problem: `"${arg}" is neither ${names.join(', ')} nor --json [file], --markdown.` };
  }
  return { ...choice, sections: named.length > 0 ? names.filter((name) => named.includes(name)) : names };
}

const isFile = (text, names) => text !== undefined && !text.startsWith('--') && !names.includes(text);
