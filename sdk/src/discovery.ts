import type { ProtectedResourceMetadata } from './generated/models.ts';
import { Discovery as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';

/** `tallygate.discovery`: what is at the address, what it says about itself, and whether it serves. Nothing here needs a credential. */
export class Discovery extends Generated {
  /** The OpenAPI 3.1 document with the addresses of this gateway; nearly two megabytes. */
  openApi(options?: CallOptions): Call<Record<string, unknown>> {
    return this.transport.json({ method: 'GET', path: '/openapi.json' }, options);
  }

  /** How the API is protected, RFC 9728; with `mcp`, the same of the MCP server. */
  resourceMetadata(of: 'api' | 'mcp' = 'api', options?: CallOptions): Call<ProtectedResourceMetadata> {
    const path = of === 'mcp' ? '/.well-known/oauth-protected-resource/mcp' : '/.well-known/oauth-protected-resource';
    return this.transport.json({ method: 'GET', path }, options);
  }
}
