import type { ResponseRequest } from '@tallygate/contract';
import { keyIdOf } from '../call.ts';
import type { CallContext } from '../call-context.ts';
import type { Later } from '../work.ts';
import { backgroundRequestOf } from './background-request.ts';
import { follow } from './follow.ts';
import { frameOf, type Prepared, type ResponseDeps } from './prepared-response.ts';
import { unixSeconds } from './wire.ts';

/** A response for the background: written down with all that it needs, and then a worker is told. */
export function takenDown(request: ResponseRequest, prepared: Prepared, requestSha256: () => string, deps: ResponseDeps): Later {
  const { id, owner, caller, previousResponseId, conversationId, input } = prepared;
  return {
    async accept(call: CallContext) {
      const response = { ...blankResponse(request, call.startedAt), ...frameOf(request, prepared) };
      const keyId = keyIdOf(caller.principal);
      // Its input is kept as that of any response is, with what it refers to: the worker reads it there.
      const { input: _, ...rest } = request;
      const backgroundRequest = backgroundRequestOf(rest, requestSha256(), call);
      await deps.responses.save(owner, { id, response, input, previousResponseId, conversationId, keyId, request: backgroundRequest });
      if (request.stream === true) {
        const events = ['response.created', 'response.queued'].map((type, sequence_number) => ({ type, sequence_number, response }));
        await deps.background.addEvents({ id, run: 0, owner }, events);
      }
      // From here on it is never lost: who is not told finds it.
      await deps.enqueue(id).catch(() => {});
      return response;
    },

    async follow(call, res) {
      const headers = { 'x-request-id': call.clientRequestId ?? call.requestId, 'x-receipt-id': call.receiptId };
      await follow(res, { owner, id, after: -1, signal: call.signal, headers, showsEncrypted: false }, deps);
    },
  };
}

/** The response before anything is known of it. */
const blankResponse = (request: ResponseRequest, startedAt: number) => ({
  object: 'response',
  created_at: unixSeconds(new Date(startedAt)),
  status: 'queued',
  error: null,
  incomplete_details: null,
  instructions: request.instructions ?? null,
  max_output_tokens: request.max_output_tokens ?? null,
  max_tool_calls: request.max_tool_calls ?? null,
  model: request.model,
  output: [],
  parallel_tool_calls: request.parallel_tool_calls ?? true,
  reasoning: request.reasoning ?? null,
  temperature: request.temperature ?? 1,
  text: request.text ?? { format: { type: 'text' } },
  tool_choice: request.tool_choice ?? 'auto',
  tools: request.tools ?? [],
  top_p: request.top_p ?? 1,
});
