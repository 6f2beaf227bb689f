import type { AppRouter } from '@ts-rest/core';
import { ERRORS } from './errors.ts';
import { contract } from './index.ts';
import { AnthropicError, GoogleError, inferenceResponseHeaders } from './inference.ts';
import { nameOfRefusal, operationOf, sharedParts } from './openapi/operation.ts';
import { EXAMPLES_IN, formOf, type RefusalForm, refusalsOf } from './openapi/refusals.ts';
import { type Route, routesOf } from './openapi/route.ts';
import { nameSchemas } from './openapi/schemas.ts';
import type { OpenApiDocument } from './openapi/shape.ts';
import { HTTPValidationError, Problem } from './problem.ts';
import { SURFACES } from './surfaces.ts';

/** What the tags of the routes mean; a route with a tag that is not here is refused. */
export const TAGS: Readonly<Record<string, string>> = {
  Inference: 'OpenAI-compatible endpoints: held before the model runs, settled after, with a signed receipt.',
  Responses: 'OpenAI’s Responses: stateful or not, plain, streamed or in the background.',
  Messages: 'Anthropic’s Messages, for every chat model: plain or streamed, with the errors that Anthropic’s clients know.',
  Google: 'Google’s Gemini API, for every chat model: plain or streamed, with the errors that Google’s clients know.',
  Conversations: 'Dialogues that are kept on the server, and the items of which they are made.',
  Images: 'Pictures from words, plain or streamed.',
  Audio: 'Speech from text, and text from speech.',
  Realtime: 'Sessions of speech and text over a WebSocket: the secrets that browsers open them with.',
  Videos: 'Video jobs: begun, followed, downloaded; charged once, and given back in full when they fail.',
  Files: 'Stored files, uploaded whole or in parts: input of batches and of requests, and what batches put out.',
  Batches: 'Many requests in one file, answered within a day at half the price.',
  Models: 'The catalogue: what each model can do and what it costs.',
  Identity: 'Users, their profile and their sessions.',
  Accounts: 'Accounts as administrators see them, and the plans that they give.',
  Audit: 'Who changed what, when and from where.',
  Keys: 'API keys: create, rotate, revoke.',
  Budgets: 'Monthly caps of API keys: what is spent and held, who changed them, when they were reached.',
  Runs: 'Agent runs: what they may spend, what they did, and the switch that stops them.',
  'Management keys': 'Keys of programs that administer the account; they run no model.',
  Projects: 'Parts of an account’s work, with API keys and limits.',
  Members: 'The people of an account: invitations, roles, and who leaves.',
  Limits: 'What may be spent, by whom and for what, and how fast.',
  Webhooks: 'What happens in an account, sent to addresses of yours as it happens, or listed.',
  Usage: 'What was used, what it cost, and what happened to one request.',
  Plans: 'What an account has booked, what that includes, what it pays, and its prepaid balance.',
  Events: 'Events of the site: what anybody may read of them, their registrations, and what administrators do.',
  Invites: 'Invitations to the beta: codes that give a plan for a time, or a credit.',
  'Client requests': 'What clients ask of the team, from the public form to its end.',
  Content: 'Posts, pages and other texts of the team: drafts, and what everybody may read.',
  'Marketing events': 'Events as the marketing workspace works with them.',
  Receipts: 'Signed receipts and the public keys that verify them.',
  Invoices: 'The bill of a month, signed and in the log, to be worked out again from its receipts.',
  Discovery: 'What the service says about itself.',
  'Marketing e-mails': 'Mails to the people the service knows: sending, previewing, progress, and who got what.',
  'Marketing people': 'Everybody the service knows, for the marketing team: finding, tagging, merging, importing, erasing.',
};

const SECURITY_SCHEMES = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key (`tg_live_…`, `tg_test_…`), a management key (`tg_mgmt_…`) or a session token (`tgs_…`).',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key, as an alternative to the bearer token.' },
  webSession: {
    type: 'apiKey',
    in: 'header',
    name: 'x-web-session-token',
    description: 'A session token, as an alternative to the bearer token.',
  },
  internalSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'x-internal-secret',
    description: 'The secret that the web front end and the backend share.',
  },
} as const;

/** The OpenAPI 3.1.0 document of a contract: all of it follows from the routes, their schemas and the list of errors. */
export function openApiDocument(router: AppRouter = contract): OpenApiDocument {
  const routes = routesOf(router);
  const schemas = nameSchemas({ input: routes.flatMap(requestSchemas), output: routes.flatMap(responseSchemas) });
  const shared = sharedParts(routes, schemas);
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route, shared) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tallygate',
      version: '0.1.0',
      summary: 'An OpenAI-compatible AI inference gateway with receipts that you can verify.',
      description:
        'Point any OpenAI client at it. The worst-case cost of a request is held on every cap before the model runs and replaced by the actual cost after; each request leaves a signed receipt that anyone can verify.',
      contact: { name: 'Tallygate', url: 'http://127.0.0.1:8787' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:8787', description: 'A gateway on this machine with its default settings.' }],
    tags: tagsOf(routes),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: responseHeaders(),
      examples: problemExamples(routes),
      parameters: shared.parameters,
      responses: shared.responses,
      schemas: schemas.components,
    },
  };
}

const requestSchemas = (route: Route) => [
  ...[...route.pathParams, ...route.query, ...route.headers].map(({ schema }) => schema),
  ...(route.body ? [route.body] : []),
];

const responseSchemas = (route: Route) => [
  ...route.responses.flatMap(({ schema }) => schema ?? []),
  Problem,
  HTTPValidationError,
  AnthropicError,
  GoogleError,
  ...Object.values(route.metadata.alsoOn ?? {}).map(({ answer }) => answer),
  ...(route.metadata.events ? [route.metadata.events] : []),
];

function tagsOf(routes: Route[]): OpenApiDocument['tags'] {
  const used = new Set(routes.map((route) => route.metadata.tag));
  for (const tag of used) if (!TAGS[tag]) throw new Error(`The tag ${tag} needs a description in TAGS.`);
  return Object.entries(TAGS).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : []));
}

function responseHeaders(): OpenApiDocument['components']['headers'] {
  const described = { ...inferenceResponseHeaders, 'Retry-After': 'Seconds after which the same request may go through.' };
  return Object.fromEntries(Object.entries(described).map(([name, description]) => [name, { description, schema: { type: 'string' } }]));
}

function problemExamples(routes: Route[]): OpenApiDocument['components']['examples'] {
  const codesIn = (form: RefusalForm) =>
    [...new Set(routes.filter((route) => formOf(route) === form).flatMap((route) => [...refusalsOf(route).values()].flat()))].sort();
  const forms: readonly RefusalForm[] = ['own', 'openai', ...SURFACES];
  return Object.fromEntries(
    forms.flatMap((form) =>
      codesIn(form).map((code) => [nameOfRefusal([code], form), { summary: ERRORS[code].title, value: EXAMPLES_IN[form](code) }]),
    ),
  );
}
