import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { refusals } from './conventions.ts';
import { SCOPES, Scope } from './scopes.ts';

const c = initContract();

const address = (description: string, path: string) => z.url().meta({ description, examples: [`http://127.0.0.1:8787${path}`] });

export const ServiceStatus = z
  .object({
    name: z.literal('Tallygate'),
    status: z.enum(['ok', 'draining']),
    version: z.string().meta({ examples: ['0.1.0'] }),
    documentation: address('The documentation; where its pages are not built, the OpenAPI document.', '/docs/'),
    openapi: address('The OpenAPI document.', '/openapi.json'),
    agent: address('What agents find here.', '/.well-known/agent.json'),
    llms: address('The documentation for language models.', '/llms.txt'),
    mcp: address('The MCP server.', '/mcp'),
  })
  .meta({ id: 'ServiceStatus', description: 'That the service is there, and where to go on.' });
export type ServiceStatus = z.infer<typeof ServiceStatus>;

export const Health = z
  .object({
    status: z.enum(['ok', 'unavailable', 'draining']),
    checks: z.record(z.string(), z.string()).meta({ examples: [{ database: 'ok', journal: 'ok' }] }),
  })
  .meta({ id: 'Health', description: 'Whether the instance can serve.' });
export type Health = z.infer<typeof Health>;

const AgentInterface = z
  .object({
    protocol: z.enum(['openai', 'mcp', 'http']).meta({
      description: '`openai`: the base URL of OpenAI’s clients. `mcp`: streamable HTTP. `http`: the whole API, as OpenAPI describes it.',
    }),
    url: address('Where it is spoken.', '/v1'),
    description: z.string().meta({ examples: ['Base URL of every OpenAI client.'] }),
  })
  .meta({ id: 'AgentInterface', description: 'A protocol that agents can speak here.' });

const AgentHeader = z
  .object({
    name: z.string().meta({ examples: ['X-Agent-Max-Budget'] }),
    description: z.string().meta({ examples: ['Hard ceiling of the run, USD, decimal string.'] }),
  })
  .meta({ id: 'AgentHeader', description: 'A header that keeps an agent within bounds.' });

const AgentLog = z
  .object({
    url: address('The log: `checkpoint` and `tile/…` are below it (c2sp.org/tlog-tiles).', '/v1/log'),
    keys: address('Keys of the log.', '/.well-known/vaas-keys.json'),
    witnesses: z
      .array(
        z.object({
          name: z.string().meta({ examples: ['witness.example'] }),
          verifier_key: z.string().meta({
            description: 'Of its cosignatures (c2sp.org/tlog-cosignature).',
            examples: ['witness.example+9b3a5c1d+BNLy…'],
          }),
          url: z.string().meta({ description: 'Where it is asked.', examples: ['https://witness.example'] }),
        }),
      )
      .meta({ description: 'Who cosigns the states of the log; empty where nobody does.' }),
    witness_policy: z
      .string()
      .nullable()
      .meta({
        description:
          'Whose cosignatures a verifier demands, and how many of them, in one line: `2 of KEY KEY KEY`. Null where there are no witnesses. Keep it: one that demands less later is to be distrusted.',
        examples: ['1 of witness.example+9b3a5c1d+BNLy…'],
      }),
  })
  .meta({ id: 'AgentLog', description: 'The log of receipts, and who watches it.' });

const AgentModel = z
  .object({
    id: z.string().meta({ examples: ['gpt-4o-mini'] }),
    kind: z.string().meta({ examples: ['chat'] }),
    context_length: z
      .int()
      .nullable()
      .meta({ examples: [128000] }),
    endpoints: z.array(z.string()).meta({ examples: [['/v1/chat/completions']] }),
    prices: z
      .record(z.string(), z.string())
      .meta({ description: 'USD per single unit, by meter.', examples: [{ input_tokens: '0.00000015', output_tokens: '0.0000006' }] }),
  })
  .meta({ id: 'AgentModel', description: 'A model with what it costs today.' });

export const AgentDocument = z
  .object({
    name: z.literal('Tallygate'),
    description: z.string().meta({ examples: ['An OpenAI-compatible AI inference gateway.'] }),
    version: z.string().meta({ examples: ['0.1.0'] }),
    url: address('Base of all addresses.', ''),
    interfaces: z.array(AgentInterface),
    authentication: z.object({
      scheme: z.literal('bearer'),
      credential: z.string().meta({ examples: ['An API key: `tg_live_…` or `tg_test_…`.'] }),
      scopes: z.array(Scope).meta({ examples: [[...SCOPES]] }),
      metadata: address('Protected-resource metadata (RFC 9728).', '/.well-known/oauth-protected-resource'),
    }),
    capabilities: z.array(
      z.object({
        name: z.string().meta({ examples: ['Runs'] }),
        description: z.string().meta({ examples: ['Agent runs: what they may spend, and the switch that stops them.'] }),
        operations: z.array(z.string()).meta({ examples: [['listRuns', 'getRun', 'closeRun']] }),
      }),
    ),
    safeguards: z.array(AgentHeader),
    models: z.array(AgentModel),
    log: AgentLog,
    documents: z.object({
      openapi: address('OpenAPI 3.1, JSON.', '/openapi.json'),
      openapi_yaml: address('OpenAPI 3.1, YAML.', '/openapi.yaml'),
      llms: address('Index of the documentation.', '/llms.txt'),
      llms_full: address('All of the documentation in one text.', '/llms-full.txt'),
      agents: address('What an agent has to know.', '/agents.md'),
      agent_card: address('The same in A2A’s form.', '/.well-known/agent-card.json'),
      receipt_keys: address('Keys that verify receipts.', '/.well-known/vaas-keys.json'),
      prices: address('Every price that receipts name.', '/v1/prices'),
      security: address('Security contact, for vulnerability reports (RFC 9116).', '/.well-known/security.txt'),
    }),
  })
  .meta({ id: 'AgentDocument', description: 'What an agent needs to find its way: protocols, credentials, limits, models with prices.' });
export type AgentDocument = z.infer<typeof AgentDocument>;

const HttpScheme = z.object({ httpAuthSecurityScheme: z.object({ scheme: z.literal('Bearer'), description: z.string() }) });

export const AgentCard = z
  .object({
    name: z.literal('Tallygate'),
    description: z.string(),
    version: z.string(),
    documentationUrl: z.url(),
    supportedInterfaces: z.array(
      z.object({
        url: z.url(),
        protocolBinding: z.string().meta({ description: 'None of A2A’s own: the gateway is called by MCP or by OpenAI’s API.' }),
        protocolVersion: z.string(),
      }),
    ),
    capabilities: z.object({ streaming: z.boolean(), pushNotifications: z.boolean() }),
    securitySchemes: z.object({ bearer: HttpScheme }),
    securityRequirements: z.array(z.object({ schemes: z.object({ bearer: z.object({}) }) })),
    defaultInputModes: z.array(z.string()),
    defaultOutputModes: z.array(z.string()),
    skills: z.array(z.object({ id: z.string(), name: z.string(), description: z.string(), tags: z.array(z.string()) })),
  })
  .meta({
    id: 'AgentCard',
    description: 'An agent card as A2A 1.0 has it.',
    examples: [
      {
        name: 'Tallygate',
        description: 'An OpenAI-compatible AI inference gateway.',
        version: '0.1.0',
        documentationUrl: 'http://127.0.0.1:8787/agents.md',
        supportedInterfaces: [{ url: 'http://127.0.0.1:8787/mcp', protocolBinding: 'MCP', protocolVersion: '2026-07-28' }],
        capabilities: { streaming: true, pushNotifications: false },
        securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key.' } } },
        securityRequirements: [{ schemes: { bearer: {} } }],
        defaultInputModes: ['application/json'],
        defaultOutputModes: ['application/json'],
        skills: [{ id: 'runs', name: 'Runs', description: 'Agent runs and their ceilings.', tags: ['runs'] }],
      },
    ],
  });
export type AgentCard = z.infer<typeof AgentCard>;

export const ProtectedResourceMetadata = z
  .object({
    resource: address('What is protected.', '/mcp'),
    resource_name: z.string().meta({ examples: ['Tallygate'] }),
    resource_documentation: address('How to get in.', '/agents.md'),
    bearer_methods_supported: z.array(z.literal('header')).meta({ examples: [['header']] }),
    scopes_supported: z.array(Scope).meta({ examples: [[...SCOPES]] }),
  })
  .meta({
    id: 'ProtectedResourceMetadata',
    description:
      'OAuth 2.0 protected-resource metadata (RFC 9728). It names no authorization server: the bearer token is an API key, made by its owner.',
  });
export type ProtectedResourceMetadata = z.infer<typeof ProtectedResourceMetadata>;

const OpenApi = z
  .looseObject({ openapi: z.literal('3.1.0') })
  .meta({ id: 'OpenApi', description: 'An OpenAPI 3.1 document.', examples: [{ openapi: '3.1.0' }] });

const text = (contentType: string, description: string, example: string) =>
  c.otherResponse({ contentType, body: z.string().meta({ description, examples: [example] }) });

/** Documents have an `ETag`: a request with it in `If-None-Match` gets a 304 while nothing has changed. */
const common = {
  method: 'GET',
  headers: { 'if-none-match': z.string().optional().meta({ description: 'The `ETag` of what the caller has.' }) },
} as const;
const others = { 304: c.noBody(), ...refusals.open } as const;
const metadata = { auth: 'none', tag: 'Discovery' } as const;

/** What the service says about itself in documents that change with a release, a price or the day. */
export const documents = c.router({
  agentDocument: {
    ...common,
    path: '/.well-known/agent.json',
    summary: 'Agent discovery',
    description: 'Protocols, credentials, safeguards and models with prices, for programs that find the gateway by themselves.',
    responses: { 200: AgentDocument, ...others },
    metadata: { ...metadata, operationId: 'getAgentDocument', sdk: 'discovery.agent' } as const,
  },
  agentCard: {
    ...common,
    path: '/.well-known/agent-card.json',
    summary: 'Agent card',
    description:
      'The same in the form of A2A 1.0. The gateway does not speak A2A itself: the interfaces it names are MCP and OpenAI’s API.',
    responses: { 200: AgentCard, ...others },
    metadata: { ...metadata, operationId: 'getAgentCard', sdk: 'discovery.agentCard' } as const,
  },
  llmsText: {
    ...common,
    path: '/llms.txt',
    summary: 'Index of the documentation for language models',
    description: 'In the format of llmstxt.org: what this is, and links to everything else.',
    responses: { 200: text('text/plain', 'The index, Markdown.', '# Tallygate\n\n> …'), ...others },
    metadata: { ...metadata, operationId: 'getLlmsText', sdk: 'discovery.llms' } as const,
  },
  llmsFullText: {
    ...common,
    path: '/llms-full.txt',
    summary: 'The whole documentation in one text',
    description: 'Guides, endpoints, errors and prices, one after the other.',
    responses: { 200: text('text/plain', 'The documentation, Markdown.', '# Tallygate\n\n> …'), ...others },
    metadata: { ...metadata, operationId: 'getLlmsFullText', sdk: 'discovery.llmsFull' } as const,
  },
  agentsGuide: {
    ...common,
    path: '/agents.md',
    summary: 'What an agent has to know',
    description: 'How to call, what it costs, which errors to repeat and which not.',
    responses: { 200: text('text/markdown', 'The guide, Markdown.', '# Tallygate for agents\n…'), ...others },
    metadata: { ...metadata, operationId: 'getAgentsGuide', sdk: 'discovery.agentsGuide' } as const,
  },
  openApiJson: {
    ...common,
    path: '/openapi.json',
    summary: 'The OpenAPI document',
    description: 'OpenAPI 3.1 with the addresses of this gateway.',
    responses: { 200: OpenApi, ...others },
    metadata: { ...metadata, operationId: 'getOpenApiJson' } as const,
  },
  openApiYaml: {
    ...common,
    path: '/openapi.yaml',
    summary: 'The OpenAPI document as YAML',
    description: 'The same as `/openapi.json`.',
    responses: { 200: text('application/yaml', 'The document.', 'openapi: "3.1.0"\n…'), ...others },
    metadata: { ...metadata, operationId: 'getOpenApiYaml', sdk: 'discovery.openApiYaml' } as const,
  },
  securityText: {
    ...common,
    path: '/.well-known/security.txt',
    summary: 'Security contact, for vulnerability reports',
    description: 'RFC 9116.',
    responses: {
      200: text('text/plain', 'The file.', 'Contact: mailto:security@example.com\r\nExpires: 2027-05-20T00:00:00.000Z\r\n'),
      ...others,
    },
    metadata: { ...metadata, operationId: 'getSecurityText', sdk: 'discovery.securityText' } as const,
  },
  resourceMetadata: {
    ...common,
    path: '/.well-known/oauth-protected-resource',
    summary: 'How the API is protected',
    description: 'RFC 9728, of the gateway as a whole.',
    responses: { 200: ProtectedResourceMetadata, ...others },
    metadata: { ...metadata, operationId: 'getResourceMetadata' } as const,
  },
  mcpResourceMetadata: {
    ...common,
    path: '/.well-known/oauth-protected-resource/mcp',
    summary: 'How the MCP server is protected',
    description: 'RFC 9728, of `/mcp`: what the `WWW-Authenticate` of its 401 points to.',
    responses: { 200: ProtectedResourceMetadata, ...others },
    metadata: { ...metadata, operationId: 'getMcpResourceMetadata' } as const,
  },
});

export const discovery = c.router({
  root: {
    method: 'GET',
    path: '/',
    summary: 'Service status',
    description: 'Names the service and its version, and says where its documentation is.',
    responses: { 200: ServiceStatus, ...refusals.open },
    metadata: { auth: 'none', tag: 'Discovery', operationId: 'getStatus', sdk: 'discovery.status' } as const,
  },
  live: {
    method: 'GET',
    path: '/health/live',
    summary: 'The process is alive',
    description: 'Answers as long as the process can; it says nothing about what the process depends on.',
    responses: { 200: Health, ...refusals.open },
    metadata: { auth: 'none', tag: 'Discovery', operationId: 'getLiveness', sdk: 'discovery.live' } as const,
  },
  ready: {
    method: 'GET',
    path: '/health/ready',
    summary: 'The instance takes requests',
    description: 'Answers 503 while the instance drains or cannot reach what it needs.',
    responses: { 200: Health, ...refusals.open, 503: Health },
    metadata: { auth: 'none', tag: 'Discovery', operationId: 'getReadiness', sdk: 'discovery.ready' } as const,
  },
});
