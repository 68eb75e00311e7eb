import { GatewayError } from '../../contract/error.ts';

/** Fields, lists and groups of fields, nested as deep as somebody wants. */
export interface Fields {
  readonly [name: string]: string | readonly string[] | Fields;
}

const FIELD_NAME = /^(?!.*__proto__)[A-Za-z0-9_-]{1,40}(\.[A-Za-z0-9_-]{1,40}){0,4}$/;

/** A name as it stands in a form, `data[amount]`, as a dotted one; `[]` at its end stays. */
export const dotted = (name: string): string => name.replace(/\[([^[\]]+)\]/g, '.$1');

/**
 * What is to be set, by dotted names: single values, and lists, whose names end in `[]`.
 *
 * @throws GatewayError `invalid_fields` for a list under a name without `[]`
 */
export function readSet(set: Readonly<Record<string, string | readonly string[]>>) {
  const values: [string, string][] = [];
  const lists: [string, readonly string[]][] = [];
  for (const [written, value] of Object.entries(set)) {
    const name = dotted(written);
    if (name.endsWith('[]')) lists.push([name.slice(0, -2), [value].flat()]);
    else if (typeof value === 'string') values.push([name, value]);
    else throw refused(`set ${name}: a list is written ${name}[]`);
  }
  return { values, lists };
}

/**
 * The fields with another value at a dotted name.
 *
 * @throws GatewayError `invalid_fields` for a name that cannot be one
 */
export function override<All extends Fields>(
  fields: All,
  name: string,
  value: string | readonly string[],
): All {
  if (!FIELD_NAME.test(name)) {
    throw refused(`set takes field names such as status or data.charge (got "${name.slice(0, 80)}")`);
  }
  const within = <Group extends Fields>(group: Group, [part = '', ...inner]: readonly string[]): Group => {
    const old = Object.hasOwn(group, part) ? group[part] : undefined;
    if (inner.length) {
      if (old !== undefined && !isGroup(old)) {
        throw refused(`set ${name}: ${part} is a single value, not a group of fields`);
      }
      return { ...group, [part]: within(old ?? {}, inner) };
    }
    if (!isGroup(old)) return { ...group, [part]: value };
    const names = Object.keys(old).map((key) => `${name}.${key}`);
    throw refused(`set ${name}: it is a group of fields; set ${names.join(', ')}`);
  };
  return within(fields, name.split('.'));
}

/**
 * The fields without the one at a dotted name.
 *
 * @throws GatewayError `invalid_fields` where there is none
 */
export function without(fields: Fields, name: string): Fields {
  const within = (group: Fields, [part = '', ...inner]: readonly string[]): Fields => {
    const { [part]: old, ...rest } = group;
    if (old === undefined || !Object.hasOwn(group, part)) throw noSuchField(name, group);
    if (!inner.length) return rest;
    if (!isGroup(old)) throw noSuchField(name, group);
    return { ...group, [part]: within(old, inner) };
  };
  return within(fields, name.split('.'));
}

function noSuchField(name: string, group: Fields): GatewayError {
  return refused(
    `unset: there is no field ${name.slice(0, 80)}; there are: ${Object.keys(group).join(', ')}`,
  );
}

function isGroup(value: Fields[string] | undefined): value is Fields {
  return typeof value === 'object' && !Array.isArray(value);
}

function refused(message: string): GatewayError {
  return new GatewayError('invalid_fields', message);
}
