/** The same with read-only lists, because callers may freeze them. JSON schemas, which types of the package come from, do not say so. */
export type Frozen<Type> = Type extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Type extends object
    ? { [Name in keyof Type]: Frozen<Type[Name]> }
    : Type;
