export { createDocuments, type DiscoveryDocuments } from './documents.ts';
export { readGuides } from './guides.ts';
export type { CallGateway } from './mcp/gateway-call.ts';
export { createMcpServer, type McpCaller, type Offer } from './mcp/mcp-server.ts';
export { createResources } from './mcp/resources.ts';
export { toolsOf } from './mcp/tools.ts';
export { readSurface } from './surface.ts';
