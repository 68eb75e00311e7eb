import { quoted } from '../../contract/curl.ts';
import type { OperationObject } from '../openapi-operation.ts';

/** What a command is filled in with. */
export interface CurlFacts {
  baseUrl: string;
  publicKey: string;
  /** Whether the control API asks for its token. */
  asksForToken: boolean;
}

/** A value that nobody can know beforehand, as a variable of the shell. */
const variable = (name: string) => (name === 'ref' ? 'order-1' : `$${name.toUpperCase()}`);

/** A command that calls an operation, ready to paste; the secret key and the control token are variables of the shell. */
export function curlOf(method: string, path: string, operation: OperationObject, facts: CurlFacts): string {
  const { parameters = [], security = [] } = operation;
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => `${name}=${variable(name)}`);
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => variable(name));
  const target = [named, ...(query.length ? [query.join('&')] : [])].join('?');
  const address = facts.baseUrl.replace(/[\\"$`]/g, '\\$&') + target;
  const key = security.some((way) => 'secretKey' in way)
    ? 'SECRET_KEY'
    : facts.asksForToken && security.some((way) => 'controlToken' in way) && 'CONTROL_TOKEN';
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${address}"`,
    ...(key ? [`-H "Authorization: Bearer $GATEWAY_SIM_${key}"`] : []),
    ...bodyOf(operation, facts),
  ].join(' \\\n  ');
}

function bodyOf({ requestBody }: OperationObject, { publicKey }: CurlFacts): string[] {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined) return [];
  const value = Object.values(media?.examples ?? {})[0]?.value;
  if (type === 'application/json') {
    const json = "-H 'Content-Type: application/json'";
    return [json, value === undefined ? '-d @state.json' : `-d ${quoted(JSON.stringify(value))}`];
  }
  const fields = { ...((value ?? {}) as Record<string, string>) };
  if ('public_key' in fields) fields['public_key'] = publicKey;
  return Object.entries(fields).map(([name, text]) => `--data-urlencode ${quoted(`${name}=${text}`)}`);
}
