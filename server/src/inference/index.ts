export type { Call } from './call.ts';
export { completeChat, streamChat } from './chat-completions.ts';
export { type Deployment, Deployments } from './deployments.ts';
export type { InferenceDeps, Reply } from './deps.ts';
export { parseInferenceHeaders } from './headers.ts';
export { Heartbeat } from './heartbeat.ts';
export type { Served } from './settlement.ts';
export { createTokenizer, type Tokenizer } from './tokenizer.ts';
