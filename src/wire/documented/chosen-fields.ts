import { GatewayError } from '../../contract/error.ts';

/** Fields, lists and groups of fields, nested at any depth. */
export interface Fields {
  readonly [name: string]: string | readonly string[] | Fields;
}

const FIELD_NAME = /^(?!.*__proto__)[A-Za-z0-9_-]{1,40}(\.[A-Za-z0-9_-]{1,40}){0,4}$/;

/** Converts a form name such as `data[amount]` to a dotted one. Keeps `[]` at the end. */
export const dotted = (name: string): string => name.replace(/\[([^[\]]+)\]/g, '.$1');

/**
 * The fields to set, by dotted names: single values, and lists, whose names end in `[]`.
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
    else throw invalid(`set ${name}: use the name ${name}[] for a list`);
  }
  return { values, lists };
}

/**
 * Sets the value of a dotted name.
 *
 * @throws GatewayError `invalid_fields` for an invalid name
 */
export function override<All extends Fields>(
  fields: All,
  name: string,
  value: string | readonly string[],
): All {
  if (!FIELD_NAME.test(name)) {
    throw invalid(`set expects field names such as status or data.charge (got "${name.slice(0, 80)}")`);
  }
  const within = <Group extends Fields>(group: Group, [part = '', ...inner]: readonly string[]): Group => {
    const old = Object.hasOwn(group, part) ? group[part] : undefined;
    if (inner.length) {
      if (old !== undefined && !isGroup(old)) {
        throw invalid(`set ${name}: ${part} is a single value, not a group of fields`);
      }
      return { ...group, [part]: within(old ?? {}, inner) };
    }
    if (!isGroup(old)) return { ...group, [part]: value };
    const names = Object.keys(old).map((key) => `${name}.${key}`);
    throw invalid(`set ${name}: it is a group of fields; set ${names.join(', ')}`);
  };
  return within(fields, name.split('.'));
}

/**
 * Removes the field with a dotted name.
 *
 * @throws GatewayError `invalid_fields` if it does not exist
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
  return invalid(`unset: unknown field ${name.slice(0, 80)}; known: ${Object.keys(group).join(', ')}`);
}

function isGroup(value: Fields[string] | undefined): value is Fields {
  return typeof value === 'object' && !Array.isArray(value);
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_fields', message);
}
