import type * as z from 'zod';
import { ERRORS, type ErrorCode } from '../errors.ts';
import {
  ChatCompletionChunk,
  Completion,
  ImageStreamEvent,
  inferenceResponseHeaders,
  ResponseStreamEvent,
  TranscriptStreamEvent,
} from '../inference.ts';
import { HTTPValidationError, Problem } from '../problem.ts';
import { exampleOf } from './examples.ts';
import { refusalsOf } from './refusals.ts';
import type { Answer, Field, Route } from './route.ts';
import type { Direction, Schemas } from './schemas.ts';
import type { JsonSchema, MediaType, OpenApiDocument, Operation, Parameter, Reference, Response } from './shape.ts';

/** What an operation answers with as server-sent events when it is asked to stream: the schema of one event’s data. */
export const STREAMS: Readonly<Record<string, z.ZodType>> = {
  createChatCompletion: ChatCompletionChunk,
  createCompletion: Completion,
  createImage: ImageStreamEvent,
  editImage: ImageStreamEvent,
  createTranscription: TranscriptStreamEvent,
  createResponse: ResponseStreamEvent,
  getResponse: ResponseStreamEvent,
};

/** Describes one route. */
export function operationOf(route: Route, schemas: Schemas): Operation {
  const { metadata } = route;
  const parameters = [
    ...route.pathParams.map((field) => parameterOf(field, 'path', schemas)),
    ...route.query.map((field) => parameterOf(field, 'query', schemas)),
    ...route.headers.map((field) => parameterOf(field, 'header', schemas)),
  ];
  return {
    operationId: metadata.operationId,
    summary: route.summary,
    description: route.description,
    tags: [metadata.tag],
    security: securityOf(route),
    ...(metadata.scope && { 'x-required-scope': metadata.scope }),
    ...(metadata.role && { 'x-required-role': metadata.role }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: { [route.bodyType]: mediaType(schemas, route.body, 'input', `${metadata.operationId} request`) },
      },
    }),
    responses: { ...answersOf(route, schemas), ...refusalsIn(route) },
  };
}

function securityOf({ metadata, headers }: Route): Operation['security'] {
  const declares = (header: string) => headers.some(({ name }) => name === header);
  if (metadata.auth === 'none') return [];
  if (metadata.auth === 'internal') return [{ internalSecret: [] }];
  return [
    { bearerAuth: [] },
    ...(declares('x-api-key') && !metadata.session ? [{ apiKey: [] }] : []),
    ...(declares('x-web-session-token') ? [{ webSession: [] }] : []),
  ];
}

function parameterOf({ name, schema }: Field, place: Parameter['in'], schemas: Schemas): Parameter {
  const { description, ...described } = schemas.schemaOf(schema, 'input');
  return {
    name,
    in: place,
    required: !schema.safeParse(undefined).success,
    ...(description && { description }),
    schema: described,
  };
}

function mediaType(schemas: Schemas, schema: Answer['schema'] & object, direction: Direction, where: string): MediaType {
  const described = schemas.schemaOf(schema, direction);
  return { schema: described, example: exampleOf(described, schemas.resolve, where) };
}

/** What the route declares; of refusals the document has those that can happen. */
function answersOf(route: Route, schemas: Schemas): Operation['responses'] {
  const answers = route.responses.filter(({ contentType }) => contentType !== PROBLEM);
  return Object.fromEntries(answers.map((answer) => [String(answer.status), responseOf(route, answer, schemas)]));
}

function responseOf(route: Route, answer: Answer, schemas: Schemas): Response {
  const headers = responseHeaders(route, answer.status);
  if (!answer.schema) return { description: 'Done. There is no body.', headers };

  const { operationId } = route.metadata;
  const media = mediaType(schemas, answer.schema, 'output', `${operationId} ${answer.status}`);
  const events = answer.status === 200 ? STREAMS[operationId] : undefined;
  return {
    description: describe(media.schema, schemas),
    headers,
    content: {
      [answer.contentType]: media,
      ...Object.fromEntries((answer.status < 300 ? (route.metadata.alsoAs ?? []) : []).map((contentType) => [contentType, media])),
      ...Object.fromEntries(
        (answer.status === 200 ? (route.metadata.alsoAt ?? []) : []).map(({ contentType, body }) => [
          contentType,
          mediaType(schemas, body, 'output', `${operationId} as ${contentType}`),
        ]),
      ),
      ...(events && { 'text/event-stream': eventStream(mediaType(schemas, events, 'output', `${operationId} event`)) }),
    },
  };
}

const eventStream = ({ schema, example }: MediaType): MediaType => ({
  schema: {
    ...schema,
    description: 'The `data` of one server-sent event. The last one with data carries `usage`, with the cost.',
  },
  example,
});

const PROBLEM = 'application/problem+json';

/** Refusals with the same codes are one response of the components: an operation only names it. */
const refusalsIn = (route: Route): Operation['responses'] =>
  Object.fromEntries([...refusalsOf(route)].map(([status, codes]) => [String(status), component('responses', nameOf(codes))]));

const nameOf = (codes: readonly ErrorCode[]): string => codes.join('-');

/** What the refusals of all routes refer to. */
export function sharedRefusals(routes: readonly Route[], schemas: Schemas): OpenApiDocument['components']['responses'] {
  const used = routes
    .flatMap((route) => [...refusalsOf(route)])
    .map(([status, codes]): [string, Response] => [
      nameOf(codes),
      {
        description: codes.map((code) => `${ERRORS[code].title} (\`${code}\`).`).join(' '),
        headers: headersOf(namesOfHeaders(status)),
        content: {
          [PROBLEM]: {
            schema: schemas.schemaOf(status === 422 ? HTTPValidationError : Problem, 'output'),
            examples: Object.fromEntries(codes.map((code) => [code, component('examples', code)])),
          },
        },
      },
    ]);
  return Object.fromEntries(used.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function describe(schema: JsonSchema, schemas: Schemas): string {
  if (schema.description) return schema.description;
  if (schema.$ref) return describe(schemas.resolve(schema.$ref), schemas);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => describe(choice, schemas)).join(' Or: ');
  if (typeof schema.items === 'object' && !Array.isArray(schema.items)) return `An array. Each item: ${describe(schema.items, schemas)}`;
  return 'Done.';
}

function responseHeaders(route: Route, status: number): Response['headers'] {
  const ofInference = Object.keys(inferenceResponseHeaders).filter((name) => name !== 'X-Request-Id');
  return headersOf([...namesOfHeaders(status), ...(route.isInference && status === 200 ? ofInference : [])]);
}

const namesOfHeaders = (status: number): string[] => ['X-Request-Id', ...(status === 429 || status === 503 ? ['Retry-After'] : [])];

const headersOf = (names: readonly string[]): Response['headers'] =>
  Object.fromEntries(names.map((name) => [name, component('headers', name)]));

const component = (kind: 'headers' | 'examples' | 'responses', name: string): Reference => ({ $ref: `#/components/${kind}/${name}` });
