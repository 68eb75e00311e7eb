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
      <p class="field-name">
        {media && <Type schema={media.schema} />}{' '}
        <span class="type">as {Object.keys(body.content).join(', ')}</span>
      </p>
      {media && <Fields schema={resolved(media.schema, document)} sent />}
    </>
  );
}

interface Answer extends Partial<ResponseObject> {
  status: string;
  isError: boolean;
}

/** Successes with what they hold; errors, which all look alike, in one list. */
function Answers(props: { responses: OperationObject['responses']; document: OpenApiDocument }) {
  const { responses, document } = props;
  const answers = Object.entries(responses).map(([status, response]): Answer => {
    const isError = '$ref' in response;
    const said = isError ? document.components.responses[response.$ref.split('/').at(-1) ?? ''] : response;
    return { status, isError, ...said };
  });
  const errors = answers.filter(({ isError }) => isError);
  return (
    <>
      <h4>Answers</h4>
      <AnswerList answers={answers.filter(({ isError }) => !isError)} document={document} />
      {errors.length > 0 && (
        <>
          <h4>Errors</h4>
          <AnswerList answers={errors} document={document} />
          <Media content={errors[0]?.content} />
        </>
      )}
    </>
  );
}

function AnswerList({ answers, document }: { answers: readonly Answer[]; document: OpenApiDocument }) {
  return (
    <ul class="answers">
      {answers.map(({ status, isError, description, content }) => (
        <li>
          <p>
            <span class={`code ${status.startsWith('2') ? 'good' : ''}`}>
              {status === 'default' ? 'others' : status}
            </span>{' '}
            {description}
          </p>
          {!isError && <Contained content={content} document={document} />}
        </li>
      ))}
    </ul>
  );
}

function Media({ content = {} }: { content: ContentObject | undefined }) {
  return (
    <p class="field-name">
      {Object.entries(content).map(([type, { schema }]) => (
        <span>
          {type === HTML_TYPE ? <span class="type">a page</span> : <Type schema={schema} />}{' '}
          <span class="type">as {type}</span>
        </span>
      ))}
    </p>
  );
}

function Contained(props: { content: ContentObject | undefined; document: OpenApiDocument }) {
  const [media] = Object.values(props.content ?? {});
  if (!media) return null;
  const named = (media.schema.anyOf ?? [media.schema]).filter(({ $ref }) => $ref !== undefined);
  return (
    <>
      <Media content={props.content} />
      {named.map((schema) => (
        <details>
          <summary>Fields of {nameAt(schema.$ref ?? '')}</summary>
          <Fields schema={resolved(schema, props.document)} sent={false} />
        </details>
      ))}
      {Object.entries(media.examples ?? {}).map(([name, { value }]) => (
        <details>
          <summary>Example: {name}</summary>
          <Pre text={JSON.stringify(value, null, 2)} />
        </details>
      ))}
    </>
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
