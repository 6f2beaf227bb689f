export { createDocuments, type DiscoveryDocuments } from './documents.ts';
export { readGuides } from './guides.ts';
export type { CallGateway } from './mcp/gateway-call.ts';
export { LargeParts } from './mcp/large-parts.ts';
export type { McpCaller, Offer } from './mcp/mcp-server.ts';
export type { LogPortrait } from './self-portrait.ts';
export { readSurface } from './surface.ts';

/** Loaded with the first message: some 30 MB that a gateway does not hold for calls that never come. */
export const loadMcp = () => import('./mcp/index.ts');
