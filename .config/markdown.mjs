// Helpers for generated Markdown.

export function table(head, rows) {
  if (rows.length === 0) return '';
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The text of a table cell. */
export function escaped(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

export function code(text) {
  return `\`${text.replaceAll('|', '\\|')}\``;
}
