import type { JsonSchema } from '../../contract/field.ts';
import { nameAt } from '../../contract/json-schema.ts';
import type { OpenApiDocument } from '../openapi.ts';
import type { ContentObject, OperationObject, ResponseObject } from '../openapi-operation.ts';
import { Fields, SourceMark, Text, Type } from './reference-fields.tsx';

/** An operation as the page shows it. */
export interface Entry {
  method: string;
  path: string;
  operation: OperationObject;
  /** Null for what the emulator calls itself. */
  curl: string | null;
}

/** A path that may be broken behind its slashes. */
export function breakable(path: string) {
  return path.split(/(?<=\/)/).flatMap((part) => [part, <wbr />]);
}

/** What an operation takes and answers, and a command that calls it. */
export function Operation({ entry, document }: { entry: Entry; document: OpenApiDocument }) {
  const { method, path, operation, curl } = entry;
  const { operationId: id, summary, parameters = [], requestBody, responses, security = [] } = operation;
  // The source stands beside the summary already.
  const description = operation.description.replace(/ ?Source: \w+\.$/, '');
  return (
    <article id={id} class="operation" aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <a href={`#${id}`}>
          <span class={`verb ${method}`}>{method.toUpperCase()}</span> <code>{breakable(path)}</code>
        </a>
      </h3>
      <p class="summary">
        <strong>{summary}.</strong> <SourceMark source={operation['x-source']} />
      </p>
      {description && <Text text={description} />}
      {security.some((way) => 'secretKey' in way) && (
        <p>
          Needs <code>Authorization: Bearer</code> with the merchant’s secret key.
        </p>
      )}
      {parameters.length > 0 && <Parameters list={parameters} />}
      {requestBody && <Body body={requestBody} document={document} />}
      <Answers responses={responses} document={document} />
      {curl !== null && (
        <>
          <h4>Try it</h4>
          <Pre text={curl} />
        </>
      )}
    </article>
  );
}

function Pre({ text }: { text: string }) {
  return (
    <pre tabindex={0}>
      <code>{text}</code>
    </pre>
  );
}

function Parameters({ list }: { list: NonNullable<OperationObject['parameters']> }) {
  return (
    <>
      <h4>Parameters</h4>
      <ul class="fields">
        {list.map(({ name, in: place, required, schema, description }) => (
          <li>
            <p class="field-name">
              <code>{name}</code>
              <span>
                <span class="type">in the {place}: </span>
                <Type schema={schema} />
              </span>
              {required && <span class="required">required</span>}
            </p>
            <Text text={description} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface BodyProps {
  body: NonNullable<OperationObject['requestBody']>;
  document: OpenApiDocument;
}

function Body({ body, document }: BodyProps) {
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

/** The schema that stands behind a reference. */
function resolved(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  return components.schemas[nameAt(schema.$ref ?? '')] ?? schema;
}

/** Successes with what they hold; errors, which all look alike, in one list. */
function Answers(props: { responses: OperationObject['responses']; document: OpenApiDocument }) {
  const { responses, document } = props;
  const all = Object.entries(responses).flatMap(([status, response]) => {
    const isError = '$ref' in response;
    const found = isError ? document.components.responses[response.$ref.split('/').at(-1) ?? ''] : response;
    return found ? [{ status, response: found, isError }] : [];
  });
  const errors = all.filter(({ isError }) => isError);
  const [first] = errors;
  return (
    <>
      <h4>Answers</h4>
      <ul class="answers">
        {all
          .filter(({ isError }) => !isError)
          .map(({ status, response }) => (
            <li>
              <Status status={status} response={response} />
              <Contained content={response.content ?? {}} document={document} />
            </li>
          ))}
      </ul>
      {first && (
        <>
          <h4>Errors</h4>
          <ul class="answers">
            {errors.map(({ status, response }) => (
              <li>
                <Status status={status} response={response} />
              </li>
            ))}
          </ul>
          <Media content={first.response.content ?? {}} />
        </>
      )}
    </>
  );
}

function Status({ status, response }: { status: string; response: ResponseObject }) {
  const tone = status.startsWith('2') ? 'good' : '';
  return (
    <p>
      <span class={`code ${tone}`}>{status === 'default' ? 'others' : status}</span> {response.description}
    </p>
  );
}

/** The schemas and media types of a body. */
function Media({ content }: { content: ContentObject }) {
  const types = Object.entries(content);
  if (!types.length) return null;
  return (
    <p class="field-name">
      {types.map(([type, { schema }]) => (
        <span>
          {type === 'text/html' ? <span class="type">a page</span> : <Type schema={schema} />}{' '}
          <span class="type">as {type}</span>
        </span>
      ))}
    </p>
  );
}

function Contained({ content, document }: { content: ContentObject; document: OpenApiDocument }) {
  const [media] = Object.values(content);
  if (!media) return null;
  const named = (media.schema.anyOf ?? [media.schema]).filter(({ $ref }) => $ref !== undefined);
  return (
    <>
      <Media content={content} />
      {named.map((schema) => (
        <details>
          <summary>Fields of {nameAt(schema.$ref ?? '')}</summary>
          <Fields schema={resolved(schema, document)} sent={false} />
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
