import { randomBytes } from 'node:crypto';
import { contract, type ResponseItem, ResponseRequest } from '@tallygate/contract';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { type Caller, isLive, keyIdOf } from '../call.ts';
import { type Operation, operation, type Received } from '../operation.ts';
import type { Work } from '../work.ts';
import type { Conversations } from './conversations.ts';
import { inputItems } from './response-input.ts';
import { responseWork } from './response-work.ts';
import type { Owner, StoredResponses } from './stored-responses.ts';

export interface ResponseDeps {
  readonly responses: StoredResponses;
  readonly conversations: Conversations;
  readonly clock: Clock;
}

/** `POST /v1/responses`: what came before is looked up, and what comes of it is kept, unless the caller says otherwise. */
export const responseOperation = (deps: ResponseDeps): Operation =>
  operation(contract.inference.createResponse, {
    schema: ResponseRequest,
    work: (request, received, caller) => workOf(request, { received, caller, id: newResponseId() }, deps),
  });

/** The work of a background response, under the id that it already has. */
export async function workOf(
  request: ResponseRequest,
  { received, caller, id }: { received: Pick<Received, 'sha256'>; caller: Caller; id: string },
  { responses, conversations }: ResponseDeps,
): Promise<Work> {
  const owner: Owner = { accountId: caller.principal.accountId, livemode: isLive(caller.principal) };
  const previousResponseId = request.previous_response_id ?? null;
  const conversationId = conversationOf(request);
  if (previousResponseId !== null && conversationId !== null) throw twoHistories();
  const before = await itemsBefore(owner, previousResponseId, conversationId, { responses, conversations });
  const input = inputItems(request).map(withId);
  const isStored = request.store !== false;
  const frame = {
    id,
    store: isStored,
    background: request.background ?? false,
    metadata: request.metadata ?? {},
    previous_response_id: previousResponseId,
    conversation: conversationId === null ? null : { id: conversationId },
  };
  const keep = async (response: Readonly<Record<string, unknown>>): Promise<void> => {
    if (isStored)
      await responses.save(owner, { id, response, input, previousResponseId, conversationId, keyId: keyIdOf(caller.principal) });
    if (conversationId !== null) await conversations.append(owner, conversationId, [...input, ...outputOf(response)]);
  };
  return responseWork(request, {
    items: [...before, ...input],
    frame,
    requestSha256: received.sha256,
    ...((isStored || conversationId !== null) && { keep }),
  });
}

function itemsBefore(
  owner: Owner,
  previousResponseId: string | null,
  conversationId: string | null,
  { responses, conversations }: Pick<ResponseDeps, 'responses' | 'conversations'>,
): Promise<ResponseItem[]> | ResponseItem[] {
  if (previousResponseId !== null) return responses.history(owner, previousResponseId);
  return conversationId === null ? [] : conversations.allItems(owner, conversationId);
}

const conversationOf = ({ conversation }: ResponseRequest): string | null =>
  typeof conversation === 'string' ? conversation : (conversation?.id ?? null);

/** Input items are listed later, and lists need ids. */
export const withId = (item: ResponseItem): ResponseItem =>
  item.id ? item : { ...item, id: `${prefixOf(item)}_${randomBytes(24).toString('hex')}` };

const PREFIXES: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', function_call_output: 'fco', reasoning: 'rs' };
const prefixOf = ({ type = 'message' }: ResponseItem): string => PREFIXES[type] ?? 'item';

const outputOf = ({ output }: Readonly<Record<string, unknown>>): ResponseItem[] => (Array.isArray(output) ? output : []);

/** As unguessable as OpenAI's. */
export const newResponseId = (): string => `resp_${randomBytes(24).toString('hex')}`;

function twoHistories(): Problem {
  const msg = 'Expected either a previous response or a conversation, not both';
  return new Problem('validation_failed', `${msg}.`, {
    param: 'conversation',
    errors: [{ loc: ['body', 'conversation'], msg, type: 'invalid' }],
  });
}
