import type { AnswerForm } from '../answer-form.ts';
import { NO_USAGE } from '../usage.ts';
import type { Work } from '../work.ts';
import { REALTIME } from './events.ts';
import { realtimeUsage } from './usage.ts';

/** What one response may come to. */
export interface ResponseAsk {
  readonly model: string;
  /** The most that it reads. */
  readonly inputTokens: number;
  /** `max_output_tokens`; undefined for as many as the model gives. */
  readonly outputTokens: number | undefined;
  /** The deployment that its connection is to; absent while none is chosen. */
  readonly deployment?: string;
  /** Of the event that asks for it. */
  readonly requestSha256: string;
}

/** Its events are read where they pass, so a whole answer never is. */
const FORM: AnswerForm = {
  read: () => undefined,
  openStream: () => {
    throw new Error('A connection has no stream of one answer');
  },
  usageIn: realtimeUsage,
};

/** One response of a session, as admission and settlement know a request. */
export function realtimeWork({ model, inputTokens, outputTokens, deployment, requestSha256 }: ResponseAsk): Work {
  return {
    endpoint: REALTIME,
    model,
    fallbackModels: [],
    isStream: true,
    needs: [],
    dialects: [{ endpoint: REALTIME, request: { model }, form: FORM }],
    ...(deployment !== undefined && { deployment }),
    output: { asked: outputTokens, choices: 1, roughPromptTokens: 0 },
    cheaper: 'lower `max_output_tokens`, or begin another session, whose conversation is shorter',
    estimatedTokens: inputTokens,
    bound: ({ contextWindow }) => ({ inputTokens: Math.min(inputTokens, contextWindow ?? inputTokens), mayHaveAudioOut: true }),
    // What a provider leaves unsaid is settled at its bound: nothing that was delivered is kept to be counted.
    estimate: async () => NO_USAGE,
    requestSha256: () => requestSha256,
  };
}
