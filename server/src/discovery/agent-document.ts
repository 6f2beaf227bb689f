import { type AgentCard, type AgentDocument, type ProtectedResourceMetadata, SCOPES } from '@tallygate/contract';
import { CREDENTIAL, SAFEGUARDS, type SelfPortrait } from './self-portrait.ts';

/** The newest protocol of `/mcp`; older ones are negotiated. */
const MCP_VERSION = '2026-07-28';

/** `/.well-known/agent.json`. */
export function agentDocument({ surface, models, log, publicUrl: url, dedicatedUrl }: SelfPortrait): AgentDocument {
  return {
    name: 'Tallygate',
    description: `${surface.summary} ${surface.description}`,
    version: surface.version,
    url,
    interfaces: [
      { protocol: 'openai', url: `${url}/v1`, description: 'Base URL of every OpenAI client.' },
      ...dedicated(dedicatedUrl),
      { protocol: 'mcp', url: `${url}/mcp`, description: 'MCP over streamable HTTP, stateless, with the same credential.' },
      { protocol: 'http', url, description: 'The whole API, as the OpenAPI document describes it.' },
    ],
    authentication: {
      scheme: 'bearer',
      credential: CREDENTIAL,
      scopes: [...SCOPES],
      metadata: `${url}/.well-known/oauth-protected-resource`,
    },
    capabilities: surface.tags.map(({ name, description }) => ({
      name,
      description,
      operations: surface.operations.flatMap(({ tag, id }) => (tag === name ? [id] : [])),
    })),
    safeguards: [...SAFEGUARDS],
    models: models.map(({ id, kind, context_length, endpoints, pricing }) => ({
      ...{ id, kind, context_length, endpoints },
      prices: Object.fromEntries(Object.entries(pricing?.prices ?? {}).map(([meter, price]) => [meter, price ?? '0'])),
    })),
    log: {
      url: `${url}/v1/log`,
      keys: `${url}/.well-known/vaas-keys.json`,
      witnesses: log.witnesses.map(({ name, verifierKey: verifier_key, url: address }) => ({ name, verifier_key, url: address })),
      witness_policy: log.policy,
    },
    documents: {
      openapi: `${url}/openapi.json`,
      openapi_yaml: `${url}/openapi.yaml`,
      llms: `${url}/llms.txt`,
      llms_full: `${url}/llms-full.txt`,
      agents: `${url}/agents.md`,
      agent_card: `${url}/.well-known/agent-card.json`,
      receipt_keys: `${url}/.well-known/vaas-keys.json`,
      prices: `${url}/v1/prices`,
      security: `${url}/.well-known/security.txt`,
    },
  };
}

const dedicated = (url: string | undefined): AgentDocument['interfaces'] =>
  url === undefined
    ? []
    : [{ protocol: 'openai', url: `${url}/v1`, description: 'The same, for API keys of accounts with dedicated capacity.' }];

/**
 * `/.well-known/agent-card.json`, as A2A 1.0 has it (a2a-protocol.org, section 4.4). The names of bindings are open there; A2A’s own are not
 * used, because a binding that is not served helps no agent.
 */
export function agentCard({ surface, publicUrl: url }: SelfPortrait): AgentCard {
  return {
    name: 'Tallygate',
    description: surface.summary,
    version: surface.version,
    documentationUrl: `${url}/agents.md`,
    supportedInterfaces: [
      { url: `${url}/mcp`, protocolBinding: 'MCP', protocolVersion: MCP_VERSION },
      { url: `${url}/v1`, protocolBinding: 'OPENAI', protocolVersion: 'v1' },
    ],
    capabilities: { streaming: true, pushNotifications: false },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', description: CREDENTIAL } } },
    securityRequirements: [{ schemes: { bearer: {} } }],
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json', 'text/event-stream'],
    skills: surface.tags.map(({ name, description }) => ({
      id: name.toLowerCase(),
      name,
      description,
      tags: surface.operations.flatMap(({ tag, id }) => (tag === name ? [id] : [])),
    })),
  };
}

/** RFC 9728, of the whole gateway or of one address of it. */
export const resourceMetadata = ({ publicUrl: url }: Pick<SelfPortrait, 'publicUrl'>, path = ''): ProtectedResourceMetadata => ({
  resource: `${url}${path}`,
  resource_name: 'Tallygate',
  resource_documentation: `${url}/agents.md`,
  bearer_methods_supported: ['header'],
  scopes_supported: [...SCOPES],
});
