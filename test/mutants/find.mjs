import { parseAst } from 'rolldown/parseAst';

/** @typedef {{ start: number, end: number, after: string }} Mutant a place in a source, and its replacement */

/** The replacement of an operator. */
const OPERATORS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '??=': '&&=',
  '++': '--',
  '--': '++',
};

const METHODS = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  ceil: 'floor',
  floor: 'ceil',
  trimStart: 'trimEnd',
  trimEnd: 'trimStart',
  toUpperCase: 'toLowerCase',
  toLowerCase: 'toUpperCase',
};

/** TypeScript nodes that contain code. All others are types. */
const IS_CODE = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);
/** In these nodes, strings are names, not values. */
const OF_NAMES = new Set([
  'ImportDeclaration',
  'ImportExpression',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'JSXAttribute',
]);
/** A text with a space is for humans, and few tests quote it. */
const isForHumans = (text) => text.includes(' ');

/**
 * All mutants of a source. They swap operators, negate conditions, empty returns and strings, change numbers by one,
 * invert booleans, and drop optional chaining and calls for side effects.
 *
 * @returns {Mutant[]} from left to right, outer ones before inner ones
 */
export function findMutants(code, lang = 'ts') {
  const found = [];
  const text = ({ start, end }) => code.slice(start, end);
  const replace = (node, after) => found.push({ start: node.start, end: node.end, after });
  /** An operand in parentheses, because the new operator may have a higher precedence. */
  const side = (part, source) => (/^(?:Binary|Logical)/.test(part?.type) ? `(${source.trim()})` : source);
  function swapOperator({ start, end, operator, prefix, left, right, argument }) {
    const other = OPERATORS[operator];
    if (other === undefined) return;
    const at = code.indexOf(operator, prefix ? start : (left ?? argument).end);
    const [before, behind] = [code.slice(start, at), code.slice(at + operator.length, end)];
    replace({ start, end }, side(left, before) + other + side(right, behind));
  }

  function mutate(node, parent) {
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression':
      case 'AssignmentExpression':
      case 'UpdateExpression':
        swapOperator(node);
        break;
      case 'UnaryExpression':
        if (node.operator === '!' || node.operator === '-') replace(node, text(node.argument));
        break;
      case 'IfStatement':
      case 'WhileStatement':
      case 'ConditionalExpression':
        // Otherwise, this would be the same as swapping the operator.
        if (!/^(?:!|[!=]==)$/.test(node.test.operator)) replace(node.test, `!(${text(node.test)})`);
        break;
      case 'ReturnStatement':
        if (node.argument && text(node.argument) !== 'undefined') replace(node.argument, 'undefined');
        break;
      case 'ArrowFunctionExpression':
        if (node.expression && text(node.body) !== 'undefined') replace(node.body, 'undefined');
        break;
      case 'ExpressionStatement':
        if (/^(?:await )?[\w.?]+\(/.test(text(node.expression)) && !text(node).startsWith('super('))
          replace(node.expression, 'undefined');
        break;
      case 'CallExpression': {
        const { property } = node.callee;
        const other = Object.hasOwn(METHODS, property?.name ?? '') && METHODS[property.name];
        if (other)
          replace(node, code.slice(node.start, property.start) + other + code.slice(property.end, node.end));
        break;
      }
      case 'ChainExpression':
        if (parent.operator !== 'delete') replace(node, text(node).replace(/\?\.(?=[[(])|\?(?=\.)/, ''));
        break;
      case 'Literal':
        if (typeof node.value === 'boolean') replace(node, String(!node.value));
        if (typeof node.value === 'number') replace(node, `(${text(node)} ${node.start % 2 ? '+' : '-'} 1)`);
        if (typeof node.value === 'string' && !isForHumans(node.value))
          replace(node, node.value ? "''" : "'mutant'");
        break;
      case 'TemplateLiteral':
        if (!isForHumans(text(node)) && parent.type !== 'TaggedTemplateExpression') replace(node, "''");
        break;
    }
  }

  function visit(node, parent) {
    const isType = node.type.startsWith('TS') && !IS_CODE.has(node.type);
    if (isType) return;
    mutate(node, parent);
    for (const [key, value] of Object.entries(node)) {
      const isName = key === 'key' && !node.computed;
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child?.type !== 'string' || isName) continue;
        if (!(child.type === 'Literal' && OF_NAMES.has(node.type))) visit(child, node);
      }
    }
  }
  visit(parseAst(code, { lang }), {});
  return found.toSorted((one, other) => one.start - other.start || other.end - one.end);
}

/** The source with a switch at each place. @param {(Mutant & { id: number })[]} mutants in the order of findMutants */
export function withSwitches(code, mutants, start = 0, end = code.length) {
  let text = '';
  let at = start;
  for (let [first, ...rest] = mutants; first; [first, ...rest] = rest.filter((one) => one.start >= at)) {
    const isHere = (one) => one.start === first.start && one.end === first.end;
    const inner = rest.filter((one) => one.end <= first.end && !isHere(one));
    const original = withSwitches(code, inner, first.start, first.end);
    const choice = [first, ...rest.filter(isHere)].reduceRight(
      (other, { id, after }) => `(globalThis.mutant(${id}) ? ${after} : ${other})`,
      original,
    );
    text += code.slice(at, first.start) + choice;
    at = first.end;
  }
  return text + code.slice(at, end);
}
