import strip from 'strip-json-comments';

/**
 * Reads JSON as people write configuration files: comments, trailing commas and a byte order mark are fine.
 *
 * @throws SyntaxError that names the line, where the engine tells it
 */
export function parseJsonc(text: string): unknown {
  // Comments become blanks, so that the positions in an error are those of the file.
  const plain = strip(text.replace(/^\uFEFF/, ''), { trailingCommas: true });
  try {
    return JSON.parse(plain);
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = /at position (\d+)(?!.*\bline\b)/.exec(message)?.[1];
    if (position === undefined) throw error;
    const line = plain.slice(0, Number(position)).split('\n').length;
    throw new SyntaxError(`${message} (line ${line})`, { cause: error });
  }
}
