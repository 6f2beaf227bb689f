import type { AgentCard, AgentDocument, Health, ProtectedResourceMetadata, ServiceStatus } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.discovery`: what is at the address, what it says about itself, and whether it serves. Nothing here needs a credential. */
export class Discovery {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Names the service, its version and where its documentation is. */
  status(options?: CallOptions): Call<ServiceStatus> {
    return this.#transport.json({ method: 'GET', path: '/' }, options);
  }

  /** Answers as long as the process can. */
  live(options?: CallOptions): Call<Health> {
    return this.#transport.json({ method: 'GET', path: '/health/live' }, options);
  }

  /** Answers when the instance takes requests; while it drains, or misses what it needs, a `ServerError` with status 503 is thrown. */
  ready(options?: CallOptions): Call<Health> {
    return this.#transport.json({ method: 'GET', path: '/health/ready' }, options);
  }

  /** Protocols, credentials, safeguards and models with today's prices: `/.well-known/agent.json`. */
  agent(options?: CallOptions): Call<AgentDocument> {
    return this.#transport.json({ method: 'GET', path: '/.well-known/agent.json' }, options);
  }

  /** The same as an agent card of A2A 1.0. */
  agentCard(options?: CallOptions): Call<AgentCard> {
    return this.#transport.json({ method: 'GET', path: '/.well-known/agent-card.json' }, options);
  }

  /** Index of the documentation for language models: `await (await discovery.llms()).text()`. */
  llms(options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: '/llms.txt' }, options);
  }

  /** Guides, endpoints, errors and prices in one text. */
  llmsFull(options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: '/llms-full.txt' }, options);
  }

  /** What an agent has to know, in Markdown. */
  agentsGuide(options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: '/agents.md' }, options);
  }

  /** The OpenAPI 3.1 document with the addresses of this gateway; nearly two megabytes. */
  openApi(options?: CallOptions): Call<Record<string, unknown>> {
    return this.#transport.json({ method: 'GET', path: '/openapi.json' }, options);
  }

  /** The same document as YAML. */
  openApiYaml(options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: '/openapi.yaml' }, options);
  }

  /** Whom to tell about a vulnerability: `security.txt`, RFC 9116. */
  securityText(options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: '/.well-known/security.txt' }, options);
  }

  /** How the API is protected, RFC 9728; with `mcp`, the same of the MCP server. */
  resourceMetadata(of: 'api' | 'mcp' = 'api', options?: CallOptions): Call<ProtectedResourceMetadata> {
    const path = of === 'mcp' ? '/.well-known/oauth-protected-resource/mcp' : '/.well-known/oauth-protected-resource';
    return this.#transport.json({ method: 'GET', path }, options);
  }
}
