export type { AnthropicSaying, AnthropicUsage } from './anthropic/saying.ts';
export * as anthropicSteps from './anthropic/steps.ts';
export * as azureSteps from './azure/steps.ts';
export type { GoogleSaying, GoogleUsage } from './google/saying.ts';
export * as googleSteps from './google/steps.ts';
export type { Form, FormFile } from './openai/form.ts';
export { type FakeUpstream, type FakeUpstreamOptions, type RecordedRequest, type ScriptFunction, startFakeUpstream } from './server.ts';
export type { Cut, ExactUsage, Saying, ScriptedToolCall, Step, StreamForm } from './step.ts';
export * as steps from './steps.ts';
