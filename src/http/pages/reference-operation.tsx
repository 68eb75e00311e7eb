import { quoted } from '../../contract/curl.ts';
import type { JsonSchema } from '../../contract/field.ts';
import { nameAt } from '../../contract/json-schema.ts';
import type { OpenApiDocument } from '../openapi.ts';
import type { ContentObject, OperationObject, ResponseObject } from '../openapi-operation.ts';
import { HTML_TYPE, JSON_TYPE } from '../operation.ts';
import { Fields, SourceMark, Text, Type } from './reference-fields.tsx';

interface Listed {
  method: string;
  path: string;
  operation: OperationObject;
}

/** What an operation takes and answers, and a command that calls it. */
export function Operation(props: Listed & { document: OpenApiDocument; facts: CurlFacts }) {
  const { document, operation } = props;
  const { summary, parameters = [], requestBody, responses } = operation;
  // The source stands beside the summary already.
  const description = operation.description.replace(/ ?Source: \w+\.$/, '');
  return (
    <>
      <p class="summary">
        <strong>{summary}.</strong>{' '}
        <SourceMark source={operation['x-source']} lines={operation['x-fidelity'] ?? []} />
      </p>
      {description && <Text text={description} />}
      {asksFor(operation, 'secretKey') && (
        <p>
          Needs <code>Authorization: Bearer</code> with the merchant’s secret key.
        </p>
      )}
      {parameters.length > 0 && (
        <>
          <h4>Parameters</h4>
          <Fields schema={asObject(parameters)} sent />
        </>
      )}
      {requestBody && <Body body={requestBody} document={document} />}
      <Answers responses={responses} document={document} />
      {/* The emulator makes this call itself. */}
      {operation !== document.webhooks.ipn.post && (
        <>
          <h4>Try it</h4>
          <Pre text={curlOf(props)} />
        </>
      )}
    </>
  );
}

function asksFor({ security = [] }: OperationObject, scheme: string): boolean {
  return security.some((way) => scheme in way);
}

function asObject(parameters: NonNullable<OperationObject['parameters']>): JsonSchema {
  const fields = parameters.map(({ name, in: place, description, schema }) => [
    name,
    { ...schema, in: place, description },
  ]);
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return { properties: Object.fromEntries(fields), required };
}

function Pre({ text }: { text: string }) {
  return (
    <pre tabindex={0}>
      <code>{text}</code>
    </pre>
  );
}

function resolved(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  return components.schemas[nameAt(schema.$ref ?? '')] ?? schema;
}

function Body(props: { body: NonNullable<OperationObject['requestBody']>; document: OpenApiDocument }) {
  const { body, document } = props;
  const [media] = Object.values(body.content);
  return (
    <>
      <h4>Body{body.required ? '' : ' (may be left out)'}</h4>
      <p>
        {media && <Type schema={media.schema} />} as {Object.keys(body.content).join(', ')}
      </p>
      {media && <Fields schema={resolved(media.schema, document)} sent />}
    </>
  );
}

/** Successes with what they hold; of errors, which all look alike, the statuses. */
function Answers(props: { responses: OperationObject['responses']; document: OpenApiDocument }) {
  const { responses, document } = props;
  const errors: string[] = [];
  const answers: [string, ResponseObject][] = [];
  for (const [status, response] of Object.entries(responses)) {
    if ('$ref' in response) errors.push(status);
    else answers.push([status, response]);
  }
  const [shared] = Object.values(responses).flatMap((response) =>
    '$ref' in response ? [document.components.responses[response.$ref.split('/').at(-1) ?? '']] : [],
  );
  return (
    <>
      <h4>Answers</h4>
      <ul class="answers">
        {answers.map(([status, { description, content }]) => (
          <li>
            <span class={status.startsWith('2') ? 'code good' : 'code'}>{nameOf(status)}</span> {description}{' '}
            <Media content={content} />
            {Object.values(content ?? {}).map(({ examples }) => (
              <Examples of={examples} />
            ))}
          </li>
        ))}
        {errors.length > 0 && (
          <li>
            <a href={`#${ERRORS}`}>Errors</a> {errors.map(nameOf).join(', ')}:{' '}
            <Media content={shared?.content} />
          </li>
        )}
      </ul>
    </>
  );
}

const nameOf = (status: string): string => (status === 'default' ? 'others' : status);

/** What an answer holds; that it is JSON needs no word. */
function Media({ content = {} }: { content: ContentObject | undefined }) {
  return Object.entries(content).map(([type, { schema }]) => (
    <span class="type">
      {type === HTML_TYPE ? 'a page' : <Type schema={schema} />}
      {type !== HTML_TYPE && type !== JSON_TYPE && ` as ${type}`}{' '}
    </span>
  ));
}

function Examples({ of = {} }: { of: Readonly<Record<string, { value: unknown }>> | undefined }) {
  return Object.entries(of).map(([name, { value }]) => (
    <details>
      <summary>Example: {name}</summary>
      <Pre text={JSON.stringify(value, null, 2)} />
    </details>
  ));
}

/** The list of what errors mean. */
export const ERRORS = 'errors';

/** What each status of an error means, wherever it is answered. */
export function ErrorMeanings({ document }: { document: OpenApiDocument }) {
  const meanings = Object.entries(document.components.responses).map(
    ([name, { description }]) => [name.split('-').at(-1) ?? '', description] as const,
  );
  return (
    <section id={ERRORS} class="operation" aria-labelledby="errors-title">
      <h2 id="errors-title">Errors</h2>
      <ul class="answers">
        {[...new Map(meanings)].map(([status, meaning]) => (
          <li>
            <span class="code">{nameOf(status)}</span> {meaning}
          </li>
        ))}
      </ul>
    </section>
  );
}

export interface CurlFacts {
  baseUrl: string;
  publicKey: string;
  /** Whether the control API asks for its token. */
  asksForToken: boolean;
}

/** A value that nobody can know beforehand, as a variable of the shell. */
const variable = (name: string) => (name === 'ref' ? 'order-1' : `$${name.toUpperCase()}`);

/** A command that calls an operation, ready to paste; the secret key and the control token are variables of the shell. */
function curlOf({ method, path, operation, facts }: Listed & { facts: CurlFacts }): string {
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }, index) => `${index ? '&' : '?'}${name}=${variable(name)}`);
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => variable(name));
  const address = facts.baseUrl.replace(/[\\"$`]/g, '\\$&') + named + query.join('');
  const key = asksFor(operation, 'secretKey')
    ? 'SECRET_KEY'
    : facts.asksForToken && asksFor(operation, 'controlToken') && 'CONTROL_TOKEN';
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${address}"`,
    ...(key ? [`-H "Authorization: Bearer $GATEWAY_SIM_${key}"`] : []),
    ...curlBody(operation, facts),
  ].join(' \\\n  ');
}

function curlBody({ requestBody }: OperationObject, { publicKey }: CurlFacts): string[] {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined) return [];
  const value = Object.values(media?.examples ?? {})[0]?.value;
  if (type === JSON_TYPE) {
    const json = "-H 'Content-Type: application/json'";
    return [json, value === undefined ? '-d @state.json' : `-d ${quoted(JSON.stringify(value))}`];
  }
  return Object.entries((value ?? {}) as Record<string, string>).map(
    ([name, text]) => `--data-urlencode ${quoted(`${name}=${name === 'public_key' ? publicKey : text}`)}`,
  );
}
