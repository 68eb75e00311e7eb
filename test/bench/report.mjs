// Prints the rows as a table for a terminal, as a table for a page, or as JSON.
import { machineText, quietText } from './machine.mjs';

/** The options for the form of the report; without one, it is a table for a terminal. */
export const FORMS = { json: { type: 'boolean' }, markdown: { type: 'boolean' } };

const MARKS = { true: 'met', false: 'missed', null: '' };

/**
 * Prints each row immediately, or all rows at the end.
 */
export function startReport({ json, markdown }) {
  const asTable = !json && !markdown;
  return {
    row: (row) => {
      if (asTable) console.log(line(row));
    },
    end: (rows, machine) => {
      if (json) console.log(JSON.stringify({ machine, rows }, undefined, 2));
      if (markdown) console.log(page(rows, machine));
      if (!asTable) return;
      console.log(`\n${machineText(machine)}\n${quietText(machine)}`);
    },
  };
}

/** A value with a useful number of digits. */
function valueText({ value, unit }) {
  if (value === null) return '';
  if (unit === '/s') return `${Math.round(value).toLocaleString('en')}/s`;
  return `${Number.isInteger(value) ? value : value.toFixed(value < 1 ? 3 : 2)}${unit}`;
}

function line(row) {
  const { what, note, target, met } = row;
  const cells = [what.padEnd(56), valueText(row).padEnd(10), target.padEnd(10), MARKS[met].padEnd(6), note];
  return cells.join('  ').trimEnd();
}

function page(rows, machine) {
  const judged = rows.some(({ target }) => target !== '');
  const cells = ({ what, note, target, met, ...row }) => [
    what,
    valueText(row),
    ...(judged ? [target, MARKS[met]] : []),
    note,
  ];
  const head = ['What', 'Measured', ...(judged ? ['Target', ''] : []), 'Details'];
  const table = [head, head.map(() => '---'), ...rows.map(cells)].map((row) => `| ${row.join(' | ')} |`);
  return `${machineText(machine)}. ${quietText(machine)}\n\n${table.join('\n')}`;
}
