/**
 * Reads the command line: names of sections, `--long`, `--json [file]`, `--markdown`.
 *
 * @param names the names of all sections
 * @param long the names of the sections that run only on request
 * @returns the sections and the form of the report; or a `problem`, which lists the valid names
 */
export function chosen(names, long, args = process.argv.slice(2)) {
  const named = [];
  const choice = { json: undefined, markdown: false };
  let all = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (names.includes(arg)) named.push(arg);
    else if (arg === '--long') all = true;
    else if (arg === '--markdown') choice.markdown = true;
    else if (arg === '--json') choice.json = isFile(args[at + 1], names) ? args[++at] : '-';
    else return { problem: `"${arg}" is neither ${names.join(', ')} nor --long, --json [file], --markdown.` };
  }
  const usual = names.filter((name) => all || !long.includes(name));
  const sections =
    named.length > 0 ? names.filter((name) => named.includes(name) || (all && long.includes(name))) : usual;
  return { ...choice, sections, leftOut: long.filter((name) => !sections.includes(name)) };
}

const isFile = (text, names) => text !== undefined && !text.startsWith('--') && !names.includes(text);
