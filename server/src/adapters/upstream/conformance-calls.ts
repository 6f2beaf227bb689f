import { ChatCompletionChunk, type ChatCompletionRequest } from '@tallygate/contract';
import { expect } from 'vitest';
import type { ChatCall, UpstreamAnswer, UpstreamProvider } from './port.ts';

/** What a call has in place of the usual. */
export type CallOverrides = Omit<Partial<ChatCall>, 'request'> & { readonly request?: Partial<ChatCompletionRequest> };

/** A call with generous timeouts; `request` is merged into a small one. */
export function chatCall(model: string, { request, ...call }: CallOverrides = {}): ChatCall {
  return {
    endpoint: '/v1/chat/completions',
    model,
    stream: false,
    maxOutputTokens: 256,
    firstByteTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    signal: new AbortController().signal,
    ...call,
    request: { model: 'name-at-the-gateway', messages: [{ role: 'user', content: 'Say hello to the world in a few words.' }], ...request },
  };
}

/** The answer of a call that must be answered. */
export async function answered(provider: UpstreamProvider, call: ChatCall): Promise<UpstreamAnswer> {
  const outcome = await provider.call(call);
  if (!outcome.ok) throw new Error(`Expected an answer, got ${outcome.kind}: ${outcome.message}`);
  return outcome;
}

/** Everything the answer says, as text. */
export async function pumped(answer: UpstreamAnswer): Promise<string> {
  const parts: Buffer[] = [];
  await answer.pump((part) => void parts.push(part));
  return Buffer.concat(parts).toString();
}

/** The JSON of every `data:` event before `[DONE]`, which has to be there and to be last. */
export function chunksOf(text: string): ChatCompletionChunk[] {
  const events = text
    .split(/\r?\n\r?\n/)
    .flatMap((event) => event.split(/\r?\n/).filter((line) => line.startsWith('data:')))
    .map((line) => line.slice('data:'.length).trim());
  expect(events.at(-1)).toBe('[DONE]');
  return events.slice(0, -1).map((event) => ChatCompletionChunk.parse(JSON.parse(event)));
}
