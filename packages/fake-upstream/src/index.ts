export { type FakeUpstream, type FakeUpstreamOptions, type RecordedRequest, type ScriptFunction, startFakeUpstream } from './server.ts';
export type { Cut, ExactUsage, Saying, ScriptedToolCall, Step, StreamForm } from './step.ts';
export * as steps from './steps.ts';
