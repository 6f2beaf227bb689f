import { contract, type ResponseItem, ResponseRequest } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { inOrder } from '../../../kernel/soon.ts';
import { requireKeepable } from '../../stored-content/index.ts';
import { keyIdOf } from '../call.ts';
import type { Caller, KeptCall } from '../call-context.ts';
import { writtenEvent } from '../event-frames.ts';
import { type Operation, operation } from '../operation.ts';
import { withPreference } from '../preferred-work.ts';
import { preferenceOf } from '../provider-preference.ts';
import type { Served } from '../served.ts';
import type { Later, ToldStream, Work } from '../work.ts';
import type { Conversations } from './conversations.ts';
import { newResponseId } from './ids.ts';
import { conversationOf, frameOf, type Prepared, prepare, type ResponseDeps } from './prepared-response.ts';
import { finalEvent } from './replay.ts';
import { responseWork } from './response-work.ts';
import { type Json, type Owner, outputOf } from './stored-responses.ts';
import { takenDown } from './taken-down.ts';
import { toldEvents } from './told-events.ts';
import { ENCRYPTED_REASONING, ownerOf } from './wire.ts';

/** `POST /v1/responses`: what came before is looked up, and what comes of it is kept, unless the caller says otherwise. */
export const responseOperation = (deps: ResponseDeps): Operation =>
  operation(contract.inference.createResponse, {
    schema: ResponseRequest,
    async work(given, received, caller) {
      const request = await asStoringAllows(given, received.bytes.length, caller, deps);
      const prepared = await prepare(request, caller, newResponseId(), deps);
      const work = workOf(request, prepared, received.sha256, deps);
      if (request.background !== true) return work;
      if (!prepared.isStored)
        throw invalidInput([
          { loc: ['body', 'store'], msg: 'must not be false with background: what nobody keeps, nobody could fetch', type: 'invalid' },
        ]);
      const later: Later = takenDown(request, prepared, received.sha256, deps);
      return { ...work, later };
    },
  });

/** Where storing is off, nothing is kept unless it is asked for, and that is refused. @throws Problem `storing_off`, `payload_too_large` */
async function asStoringAllows(
  request: ResponseRequest,
  bytes: number,
  caller: Caller,
  { storing }: ResponseDeps,
): Promise<ResponseRequest> {
  const keepsTurn = conversationOf(request) !== null;
  if (request.store === false && !keepsTurn) return request;
  const { accountId } = ownerOf(caller);
  if (request.store === true || request.background === true || keepsTurn) await storing.requireOn(accountId);
  if (!(await storing.isOn(accountId))) return { ...request, store: false };
  requireKeepable(bytes);
  return request;
}

/** What is kept of a result, and what is to be settled for it. */
export type Keep = (response: Json, served: Served, call: KeptCall) => Promise<void>;

/** @param save what keeps the response itself; by default it is written as a new one */
export function workOf(request: ResponseRequest, prepared: Prepared, requestSha256: () => string, deps: ResponseDeps, save?: Keep): Work {
  const { id, owner, caller, isStored, previousResponseId, conversationId, input, items, bytes, audioTokens } = prepared;
  const kept = { id, input, previousResponseId, conversationId, keyId: keyIdOf(caller.principal) };
  const append = async (response: Json) => {
    if (conversationId !== null) await appendTurn(owner, conversationId, [...input, ...outputOf(response)], deps.conversations);
  };
  const keep: Keep = async (response, served, call) => {
    if (save) await save(response, served, call);
    else if (isStored) await deps.responses.save(owner, { ...kept, response });
    await append(response);
  };
  const keepStream = async (response: Json, told: ToldStream) => {
    await deps.responses.save(owner, { ...kept, response, events: told.isComplete ? told.events : await endedEvents(told, response) });
    if (told.isComplete) await append(response);
  };
  const preference = preferenceOf(request);
  const work = responseWork(request, {
    items,
    bytes,
    audioTokens,
    frame: frameOf(request, prepared),
    requestSha256,
    // Without it a model that reasons could not be shown its own reasoning in the next turn: it is asked without state.
    asksEncrypted: deps.catalog.find(request.model)?.capabilities.has('reasoning') ?? false,
    hidesEncrypted: !request.include?.includes(ENCRYPTED_REASONING),
    ...((isStored || conversationId !== null) && { keep }),
    ...(isStored && !save && request.stream === true && { keepStream }),
  });
  // Here too, since a response in the background is made from what was kept of its request.
  return preference ? withPreference(work, preference) : work;
}

/** Of a stream that broke off: what was told, and how it ended in the place where its client was told of the error. */
async function endedEvents({ events = Buffer.alloc(0) }: ToldStream, response: Json): Promise<Buffer> {
  const sequence_number = Number((await toldEvents(events)).at(-1)?.['sequence_number'] ?? -1) + 1;
  const ending = await inOrder(finalEvent(response), (event) => writtenEvent({ ...event, sequence_number }));
  return Buffer.concat([events, ...ending]);
}

/** Of a conversation that is deleted meanwhile nothing is left to add to; the answer is the caller's all the same. */
export async function appendTurn(owner: Owner, id: string, items: readonly ResponseItem[], conversations: Conversations): Promise<void> {
  if (await conversations.exists(owner, id)) await conversations.append(owner, id, items);
}
