import * as z from 'zod';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { AnthropicError, GoogleError, inferenceResponseHeaders } from '../inference.ts';
import { HTTPValidationError, Problem } from '../problem.ts';
import { exampleOf } from './examples.ts';
import { formOf, type RefusalForm, refusalsOf } from './refusals.ts';
import type { Answer, Field, Route } from './route.ts';
import type { Direction, Schemas } from './schemas.ts';
import { listedBy } from './sdk-method.ts';
import { sdkSample } from './sdk-sample.ts';
import type { JsonSchema, MediaType, OpenApiDocument, Operation, Parameter, Reference, Response } from './shape.ts';

/** What the operations of a document have in common: their records, and what several of them take or answer in the same form. */
export interface Shared {
  readonly schemas: Schemas;
  readonly parameters: OpenApiDocument['components']['parameters'];
  readonly responses: OpenApiDocument['components']['responses'];
}

export function sharedParts(routes: readonly Route[], schemas: Schemas): Shared {
  const parameters = commonest(
    routes.flatMap((route) => parametersOf(route, schemas)),
    ({ name }) => name,
  );
  const answers = commonest(
    routes.flatMap((route) => Object.values(answersOf(route, schemas))),
    nameOfAnswer,
  );
  return { schemas, parameters, responses: { ...answers, ...sharedRefusals(routes, schemas) } };
}

/** Describes one route. */
export function operationOf(route: Route, { schemas, ...shared }: Shared): Operation {
  const { metadata } = route;
  const parameters = parametersOf(route, schemas).map((parameter) => inShort('parameters', parameter.name, parameter, shared.parameters));
  const answers = Object.entries(answersOf(route, schemas)).map(([status, answer]) => [
    status,
    inShort('responses', nameOfAnswer(answer), answer, shared.responses),
  ]);
  return {
    operationId: metadata.operationId,
    summary: route.summary,
    description: route.description,
    tags: [metadata.tag],
    security: securityOf(route),
    ...(metadata.scope && { 'x-required-scope': metadata.scope }),
    ...(metadata.role && { 'x-required-role': metadata.role }),
    ...(metadata.tool && { 'x-mcp-tool': metadata.tool }),
    ...samplesOf(route, schemas),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: { [route.bodyType]: mediaType(schemas, route.body, 'input', `${metadata.operationId} request`) },
      },
    }),
    responses: { ...Object.fromEntries(answers), ...refusalsIn(route) },
  };
}

/** What several operations have in the same form, by a name: of several forms of one name, the one that most of them have. */
function commonest<T>(parts: readonly T[], nameOf: (part: T) => string | undefined): Record<string, T> {
  const byForm = Map.groupBy(parts, (part) => JSON.stringify(part));
  const repeated = [...byForm.values()].filter(({ length }) => length > 1).sort((a, b) => b.length - a.length);
  const named: Record<string, T> = {};
  for (const [part] of repeated) {
    const name = part && nameOf(part);
    if (part && name && COMPONENT_NAME.test(name)) named[name] ??= part;
  }
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const COMPONENT_NAME = /^[\w.-]+$/;

/** A reference, if the part is among the shared ones. */
const inShort = <T>(kind: ComponentKind, name: string | undefined, part: T, shared: Readonly<Record<string, T>>): T | Reference =>
  name !== undefined && JSON.stringify(shared[name]) === JSON.stringify(part) ? component(kind, name) : part;

/** An answer goes by the record that it is; one with a stream or in several forms has no name. */
function nameOfAnswer({ content }: Response): string | undefined {
  if (!content) return 'NoContent';
  const [media, ...others] = Object.values(content);
  return others.length === 0 ? media?.schema.$ref?.split('/').at(-1) : undefined;
}

const parametersOf = (route: Route, schemas: Schemas): Parameter[] => [
  ...route.pathParams.map((field) => parameterOf(field, 'path', schemas)),
  ...route.query.map((field) => parameterOf(field, 'query', schemas)),
  ...route.headers.map((field) => parameterOf(field, 'header', schemas)),
];

/** Its call with the SDK, in the form that tools for references know; other forms are in `docs/samples`. */
function samplesOf(route: Route, schemas: Schemas): Pick<Operation, 'x-codeSamples'> {
  const fields = [...route.pathParams, ...route.query];
  const source = sdkSample(route, {
    body: route.body && mediaType(schemas, route.body, 'input', `${route.metadata.operationId} request`).example,
    parameter: (name) => schemas.schemaOf(fields.find((field) => field.name === name)?.schema ?? z.never(), 'input').examples?.[0],
    record: recordOf(route, schemas),
  });
  return source === undefined ? {} : { 'x-codeSamples': [{ lang: 'TypeScript', label: 'SDK', source }] };
}

const recordName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

function recordOf(route: Route, schemas: Schemas): string | undefined {
  const schema = listedBy(route)?.item ?? route.responses.find(({ status }) => status < 300)?.schema;
  if (!schema) return undefined;
  const { $ref, items } = schemas.schemaOf(schema, 'output');
  if ($ref) return recordName($ref);
  return typeof items === 'object' && !Array.isArray(items) && items.$ref ? `${recordName(items.$ref)}s` : undefined;
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
function answersOf(route: Route, schemas: Schemas): Record<string, Response> {
  const answers = route.responses.filter(
    ({ contentType, status }) => contentType !== PROBLEM && !(route.metadata.surface && status >= 400),
  );
  return Object.fromEntries(answers.map((answer) => [String(answer.status), responseOf(route, answer, schemas)]));
}

function responseOf(route: Route, answer: Answer, schemas: Schemas): Response {
  const headers = responseHeaders(route, answer.status);
  if (!answer.schema) return { description: 'Done. There is no body.', headers };

  const { operationId } = route.metadata;
  const own = mediaType(schemas, answer.schema, 'output', `${operationId} ${answer.status}`);
  const others = answer.status === 200 ? Object.values(route.metadata.alsoOn ?? {}) : [];
  const media =
    others.length === 0
      ? own
      : { ...own, schema: { anyOf: [own.schema, ...others.map(({ answer }) => schemas.schemaOf(answer, 'output'))] } };
  const events = answer.status === 200 ? route.metadata.events : undefined;
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

/** Refusals with the same codes in the same form are one response of the components: an operation only names it. */
const refusalsIn = (route: Route): Operation['responses'] =>
  Object.fromEntries(
    [...refusalsOf(route)].map(([status, codes]) => [String(status), component('responses', nameOfRefusal(codes, formOf(route)))]),
  );

/** Of a response or, with one code, of an example. */
export const nameOfRefusal = (codes: readonly ErrorCode[], form: RefusalForm): string =>
  [...(form === 'own' ? [] : [form]), ...codes].join('-');

/** What the refusals of all routes refer to. */
function sharedRefusals(routes: readonly Route[], schemas: Schemas): OpenApiDocument['components']['responses'] {
  const used = routes
    .flatMap((route) => [...refusalsOf(route)].map(([status, codes]) => ({ status, codes, form: formOf(route) })))
    .map(({ status, codes, form }): [string, Response] => [
      nameOfRefusal(codes, form),
      {
        description: codes.map((code) => `${ERRORS[code].title} (\`${code}\`).`).join(' '),
        headers: headersOf(namesOfHeaders(status)),
        content: {
          [form === 'own' || form === 'openai' ? PROBLEM : 'application/json']: {
            schema: schemas.schemaOf(recordOfRefusal(form, status), 'output'),
            examples: Object.fromEntries(codes.map((code) => [code, component('examples', nameOfRefusal([code], form))])),
          },
        },
      },
    ]);
  return Object.fromEntries(used.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const FORMS_OF_SURFACES = { anthropic: AnthropicError, google: GoogleError };

function recordOfRefusal(form: RefusalForm, status: number) {
  if (form !== 'own' && form !== 'openai') return FORMS_OF_SURFACES[form];
  return status === 422 ? HTTPValidationError : Problem;
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

const namesOfHeaders = (status: number): string[] => [
  'X-Request-Id',
  ...(status === 429 || status === 503 || status === 529 ? ['Retry-After'] : []),
];

const headersOf = (names: readonly string[]): Response['headers'] =>
  Object.fromEntries(names.map((name) => [name, component('headers', name)]));

type ComponentKind = 'headers' | 'examples' | 'responses' | 'parameters';

const component = (kind: ComponentKind, name: string): Reference => ({ $ref: `#/components/${kind}/${name}` });
