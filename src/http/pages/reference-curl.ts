import type { OperationObject } from '../openapi-operation.ts';

/** What a command is filled in with. */
export interface CurlFacts {
  baseUrl: string;
  publicKey: string;
  /** Whether the control API asks for its token. */
  asksForToken: boolean;
}

/** Values that nobody can know beforehand stand as variables of the shell. */
const VARIABLES: Readonly<Record<string, string>> = {
  ref: 'order-1',
  id: '$ID',
  payment_id: '$PAYMENT_ID',
};

/** A command that calls an operation, ready to paste; the secret key and the control token are variables of the shell. */
export function curlOf(method: string, path: string, operation: OperationObject, facts: CurlFacts): string {
  const address = facts.baseUrl.replace(/[\\"$`]/g, '\\$&') + filled(path, operation);
  const command = `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${address}"`;
  return [command, ...authorization(operation, facts), ...bodyOf(operation, facts)].join(' \\\n  ');
}

function filled(path: string, { parameters = [] }: OperationObject): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => `${name}=${VARIABLES[name] ?? `$${name.toUpperCase()}`}`);
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => VARIABLES[name] ?? `$${name.toUpperCase()}`);
  return [named, ...(query.length ? [query.join('&')] : [])].join('?');
}

function authorization({ security = [] }: OperationObject, { asksForToken }: CurlFacts): string[] {
  if (security.some((way) => 'secretKey' in way))
    return ['-H "Authorization: Bearer $GATEWAY_SIM_SECRET_KEY"'];
  const wanted = asksForToken && security.some((way) => 'controlToken' in way);
  return wanted ? ['-H "Authorization: Bearer $GATEWAY_SIM_CONTROL_TOKEN"'] : [];
}

function bodyOf({ requestBody }: OperationObject, { publicKey }: CurlFacts): string[] {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined) return [];
  const [example] = Object.values(media?.examples ?? {});
  const value = example?.value;
  if (type === 'application/json') {
    const json = "-H 'Content-Type: application/json'";
    return [json, value === undefined ? '-d @state.json' : `-d ${quoted(JSON.stringify(value))}`];
  }
  const fields = Object.entries((value ?? {}) as Record<string, string>);
  return fields.map(
    ([name, text]) => `--data-urlencode ${quoted(`${name}=${name === 'public_key' ? publicKey : text}`)}`,
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
