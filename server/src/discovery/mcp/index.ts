export { createMcpHandler } from '@modelcontextprotocol/server';
export { createMcpServer } from './mcp-server.ts';
export { createResources } from './resources.ts';
export { toolsOf } from './tools.ts';
