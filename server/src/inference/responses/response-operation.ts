import { contract, type ResponseItem, ResponseRequest } from '@tallygate/contract';
import type { Catalog } from '../../catalog/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { type Caller, keyIdOf } from '../call.ts';
import { FileInliner, inlinedPart, type OpenFile } from '../inline-files.ts';
import { type Operation, operation } from '../operation.ts';
import type { Served } from '../settlement.ts';
import type { Tokenizer } from '../tokenizer.ts';
import type { Later, ToldStream, Work } from '../work.ts';
import type { BackgroundResponses } from './background-responses.ts';
import { expandCompaction } from './compaction.ts';
import type { Conversations } from './conversations.ts';
import { newResponseId, withId } from './ids.ts';
import { checkedItems, wholeItem } from './items.ts';
import { resolveReferences } from './referred-items.ts';
import { finalEvent } from './replay.ts';
import { inputItems } from './response-input.ts';
import { responseWork } from './response-work.ts';
import { type Json, type Owner, outputOf, type StoredResponses } from './stored-responses.ts';
import { takenDown } from './taken-down.ts';
import { toldEvents, written } from './told-events.ts';
import { fitToWindow } from './window.ts';
import { ENCRYPTED_REASONING, ownerOf } from './wire.ts';

export interface ResponseDeps {
  readonly responses: StoredResponses;
  readonly conversations: Conversations;
  readonly background: BackgroundResponses;
  readonly catalog: Catalog;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  readonly openFile: OpenFile;
  /** Tells a worker of a background response. One that it fails for is found by the sweep. */
  enqueue(responseId: string, run?: number): Promise<void>;
}

/** `POST /v1/responses`: what came before is looked up, and what comes of it is kept, unless the caller says otherwise. */
export const responseOperation = (deps: ResponseDeps): Operation =>
  operation(contract.inference.createResponse, {
    schema: ResponseRequest,
    async work(request, received, caller) {
      const prepared = await prepare(request, caller, newResponseId(), deps);
      const work = workOf(request, prepared, received.sha256, deps);
      if (request.background !== true) return work;
      if (!prepared.isStored)
        throw invalidInput([
          { loc: ['body', 'store'], msg: 'must not be false with background: what nobody keeps, nobody could fetch', type: 'invalid' },
        ]);
      const later: Later = takenDown(request, prepared, deps);
      return { ...work, later };
    },
  });

/** A request with everything it refers to. */
export interface Prepared {
  readonly id: string;
  readonly owner: Owner;
  readonly caller: Caller;
  readonly isStored: boolean;
  readonly previousResponseId: string | null;
  readonly conversationId: string | null;
  /** What is new, as it is kept. */
  readonly input: readonly ResponseItem[];
  /** Everything that the model reads: what came before too, and the bytes of files. */
  readonly items: readonly ResponseItem[];
}

/** @throws Problem `not_found`, `conflict`, `validation_failed` */
export async function prepare(request: ResponseRequest, caller: Caller, id: string, deps: ResponseDeps): Promise<Prepared> {
  const owner = ownerOf(caller);
  const { input, all, previousResponseId, conversationId } = await itemsOf(request, owner, deps);
  const items = await fitToWindow(request, all, { model: deps.catalog.find(request.model), tokenizer: deps.tokenizer });
  return { id, owner, caller, isStored: request.store !== false, previousResponseId, conversationId, input, items };
}

type Asked = Pick<ResponseRequest, 'previous_response_id' | 'conversation'> & { readonly input?: ResponseRequest['input'] | null };

/** What is new, and with it everything that went before, as the model is to read it. */
export async function itemsOf(request: Asked, owner: Owner, deps: ResponseDeps) {
  const previousResponseId = request.previous_response_id ?? null;
  const conversationId = conversationOf(request);
  if (previousResponseId !== null && conversationId !== null)
    throw invalidInput([
      { loc: ['body', 'conversation'], msg: 'Expected either a previous response or a conversation, not both', type: 'invalid' },
    ]);
  const before = await itemsBefore(owner, previousResponseId, conversationId, deps);
  const given = checkedItems(inputItems(request), 'input');
  const asked = (await resolveReferences(given, { owner, before, responses: deps.responses })).map(withId);
  const input = asked.map(wholeItem);
  const all = await withFiles([...before, ...asked].map(expandCompaction), owner, deps.openFile);
  return { input, all, previousResponseId, conversationId };
}

/** What is kept of a result, and what is to be settled for it. */
export type Keep = (response: Json, served: Served) => Promise<void>;

/** What the result of the request shows whatever the provider says. */
export const frameOf = (request: ResponseRequest, { id, isStored, previousResponseId, conversationId }: Prepared) => ({
  id,
  store: isStored,
  background: request.background ?? false,
  // The provider gets what is left after it.
  truncation: request.truncation ?? 'disabled',
  metadata: request.metadata ?? {},
  previous_response_id: previousResponseId,
  conversation: conversationId === null ? null : { id: conversationId },
});

/** @param save what keeps the response itself; by default it is written as a new one */
export function workOf(request: ResponseRequest, prepared: Prepared, requestSha256: () => string, deps: ResponseDeps, save?: Keep): Work {
  const { id, owner, caller, isStored, previousResponseId, conversationId, input, items } = prepared;
  const kept = { id, input, previousResponseId, conversationId, keyId: keyIdOf(caller.principal) };
  const append = async (response: Json) => {
    if (conversationId !== null) await appendTurn(owner, conversationId, [...input, ...outputOf(response)], deps.conversations);
  };
  const keep: Keep = async (response, served) => {
    if (save) await save(response, served);
    else if (isStored) await deps.responses.save(owner, { ...kept, response });
    await append(response);
  };
  const keepStream = async (response: Json, told: ToldStream) => {
    await deps.responses.save(owner, { ...kept, response, events: told.isComplete ? told.events : endedEvents(told, response) });
    if (told.isComplete) await append(response);
  };
  return responseWork(request, {
    items,
    frame: frameOf(request, prepared),
    requestSha256,
    // Without it a model that reasons could not be shown its own reasoning in the next turn: it is asked without state.
    asksEncrypted: deps.catalog.find(request.model)?.capabilities.has('reasoning') ?? false,
    hidesEncrypted: !request.include?.includes(ENCRYPTED_REASONING),
    ...((isStored || conversationId !== null) && { keep }),
    ...(isStored && !save && request.stream === true && { keepStream }),
  });
}

/** Of a stream that broke off: what was told, and how it ended in the place where its client was told of the error. */
function endedEvents({ events = Buffer.alloc(0) }: ToldStream, response: Json): Buffer {
  const sequence_number = Number(toldEvents(events).at(-1)?.['sequence_number'] ?? -1) + 1;
  const ending = finalEvent(response).map((event) => written({ ...event, sequence_number }));
  return Buffer.concat([events, Buffer.from(ending.join(''))]);
}

/** Of a conversation that is deleted meanwhile nothing is left to add to; the answer is the caller's all the same. */
export async function appendTurn(owner: Owner, id: string, items: readonly ResponseItem[], conversations: Conversations): Promise<void> {
  if (await conversations.exists(owner, id)) await conversations.append(owner, id, items);
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

async function withFiles(items: readonly ResponseItem[], owner: Owner, openFile: OpenFile): Promise<ResponseItem[]> {
  const files = new FileInliner((fileId) => openFile(owner, fileId));
  const inlined = async (list: unknown, index: number, name: string): Promise<unknown> => {
    if (!Array.isArray(list)) return list;
    const parts: unknown[] = [];
    // One after the other: the first that is too large ends it before the rest is read.
    for (const [at, part] of list.entries()) parts.push(await inlinedPart(part, files, { loc: ['input', index, name, at] }));
    return parts;
  };
  const whole: ResponseItem[] = [];
  for (const [index, item] of items.entries()) {
    const { content, output } = item;
    const isPlain = !Array.isArray(content) && !Array.isArray(output);
    whole.push(
      isPlain
        ? item
        : {
            ...item,
            ...(Array.isArray(content) && { content: await inlined(content, index, 'content') }),
            ...(Array.isArray(output) && { output: await inlined(output, index, 'output') }),
          },
    );
  }
  return whole;
}

const conversationOf = ({ conversation }: Asked): string | null =>
  typeof conversation === 'string' ? conversation : (conversation?.id ?? null);
