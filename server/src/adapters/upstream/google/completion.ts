import { statedUsage } from '../../../kernel/stated-usage.ts';
import { NONE_WRITTEN } from '../../../kernel/tool-arguments.ts';
import type { Steps } from '../../../kernel/turn.ts';
import { isRecord, type Json, textIn } from '../json-value.ts';
import { type CandidatePiece, callId, candidatePieces, toolCall } from './candidate.ts';
import { finishReasonOf, withheld } from './finish-reason.ts';
import { withSignature } from './thought-signature.ts';
import { usageOf } from './usage.ts';

/** What an answer needs besides the provider's words. */
export interface AnswerContext {
  /** The provider's name for the model; its own word for the version wins. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** Stands in where the provider names no id of its own. */
  readonly id: string;
  /** The caller declined parallel calls, which Google cannot be told: of several, the first alone is passed on. */
  readonly oneCallOnly: boolean;
  /** At which it was served, where the answer says it. */
  readonly serviceTier?: string | undefined;
}

/** Undefined where the document is no answer of `generateContent`. */
export function* completionOf(document: unknown, context: AnswerContext, written = NONE_WRITTEN): Steps<Json | undefined> {
  if (!isRecord(document)) return undefined;
  const block = blockedBecause(document);
  const pieces = yield* candidatePieces(document, written);
  if (pieces.length === 0 && block === undefined) return undefined;
  const { id, model } = headOf(document, context);
  const choices = pieces.length > 0 ? pieces.map((piece) => choiceOf(piece, id, context.oneCallOnly)) : [blockedChoice(block ?? '')];
  const usage = usageOf(statedUsage(document));
  return {
    ...{ id: `chatcmpl-${id}`, object: 'chat.completion', created: context.created, model, service_tier: context.serviceTier, choices },
    ...(usage && { usage }),
  };
}

/** The answer's name and the model's. */
export const headOf = (response: Json, context: AnswerContext): { id: string; model: string } => ({
  id: textIn(response['responseId']) ?? context.id,
  model: textIn(response['modelVersion']) ?? context.model,
});

/** Why Google did not let the model see the prompt; undefined where it did. */
export function blockedBecause({ promptFeedback }: Json): string | undefined {
  const reason = isRecord(promptFeedback) ? textIn(promptFeedback['blockReason']) : undefined;
  if (reason === undefined || !isRecord(promptFeedback)) return undefined;
  return textIn(promptFeedback['blockReasonMessage']) ?? `The provider blocked the prompt (${reason.slice(0, 60)}).`;
}

const blockedChoice = (refusal: string): Json => ({
  index: 0,
  message: { role: 'assistant', content: null, refusal },
  logprobs: null,
  finish_reason: 'content_filter',
});

function choiceOf(piece: CandidatePiece, id: string, oneCallOnly: boolean): Json {
  const { index, text, thoughts, finishReason = 'STOP', finishMessage, logprobs } = piece;
  const calls = oneCallOnly ? piece.calls.slice(0, 1) : piece.calls;
  const reason = finishReasonOf(finishReason, calls.length > 0);
  const isSilent = text === '' && calls.length === 0;
  const refusal = reason === 'content_filter' && isSilent ? withheld(finishReason, finishMessage) : null;
  return {
    index,
    message: {
      role: 'assistant',
      content: text === '' && (calls.length > 0 || refusal !== null) ? null : text,
      refusal,
      ...(thoughts !== '' && { reasoning_content: thoughts }),
      ...(calls.length > 0 && { tool_calls: calls.map((call, at) => toolCall(call, call.id ?? callId(id, index, at))) }),
      ...withSignature(piece.signature),
    },
    logprobs,
    finish_reason: reason,
  };
}
