import { contract, type ResponseItem, ResponseRequest } from '@tallygate/contract';
import type { Clock } from '../../../kernel/clock.ts';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { breather } from '../../../kernel/turn.ts';
import type { Catalog } from '../../../money/catalog/index.ts';
import type { Storing } from '../../stored-content/index.ts';
import { type Call, type Caller, keyIdOf } from '../call.ts';
import { FileInliner, inlinedPart, type OpenFile } from '../inline-files.ts';
import { type Operation, operation } from '../operation.ts';
import { inlineAudioTokens } from '../recordings/inline-audio.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { Served } from '../settlement.ts';
import type { Tokenizer } from '../tokenizer.ts';
import type { Later, ToldStream, Work } from '../work.ts';
import type { BackgroundResponses } from './background-responses.ts';
import { expandCompaction } from './compaction.ts';
import type { Conversations } from './conversations.ts';
import { newResponseId, withId } from './ids.ts';
import { checkedItems, wholeItem } from './items.ts';
import { audioOf } from './media.ts';
import { resolveReferences } from './referred-items.ts';
import { finalEvent } from './replay.ts';
import { inputItems, sentBytes } from './response-input.ts';
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
  readonly recordings: Recordings;
  readonly clock: Clock;
  readonly openFile: OpenFile;
  readonly storing: Storing;
  /** Tells a worker of a background response. One that it fails for is found by the sweep. */
  enqueue(responseId: string, run?: number): Promise<void>;
}

/** `POST /v1/responses`: what came before is looked up, and what comes of it is kept, unless the caller says otherwise. */
export const responseOperation = (deps: ResponseDeps): Operation =>
  operation(contract.inference.createResponse, {
    schema: ResponseRequest,
    async work(given, received, caller) {
      const request = await asStoringAllows(given, caller, deps);
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

/** Where storing is off, nothing is kept unless it is asked for, and that is refused. @throws Problem `storing_off` */
async function asStoringAllows(request: ResponseRequest, caller: Caller, { storing }: ResponseDeps): Promise<ResponseRequest> {
  const keepsTurn = conversationOf(request) !== null;
  if (request.store === false && !keepsTurn) return request;
  const { accountId } = ownerOf(caller);
  if (request.store === true || request.background === true || keepsTurn) await storing.requireOn(accountId);
  return (await storing.isOn(accountId)) ? request : { ...request, store: false };
}

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
  /** Of the request with them, as it is sent. */
  readonly bytes: number;
  /** Of the audio among them; undefined where some of it cannot be read. */
  readonly audioTokens: number | undefined;
}

/** @throws Problem `not_found`, `conflict`, `validation_failed` */
export async function prepare(request: ResponseRequest, caller: Caller, id: string, deps: ResponseDeps): Promise<Prepared> {
  const owner = ownerOf(caller);
  const rest = breather();
  const { input, all, previousResponseId, conversationId } = await itemsOf(request, owner, deps);
  await rest();
  const allBytes = await sentBytes(request, all);
  const items = await fitToWindow(request, all, { bytes: allBytes, model: deps.catalog.find(request.model), tokenizer: deps.tokenizer });
  const bytes = items === all ? allBytes : await sentBytes(request, items);
  await rest();
  const audioTokens = await inlineAudioTokens(audioOf(items), deps.recordings);
  await rest();
  return { id, owner, caller, isStored: request.store !== false, previousResponseId, conversationId, input, items, bytes, audioTokens };
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
  const rest = breather();
  const before = await itemsBefore(owner, previousResponseId, conversationId, deps);
  const given = checkedItems(inputItems(request), 'input');
  const asked = (await resolveReferences(given, { owner, before, responses: deps.responses })).map(withId);
  await rest();
  const input = asked.map(wholeItem);
  await rest();
  const all = await withFiles([...before, ...asked].map(expandCompaction), owner, deps.openFile);
  await rest();
  return { input, all, previousResponseId, conversationId };
}

/** What is kept of a result, and what is to be settled for it. */
export type Keep = (response: Json, served: Served, call: Call) => Promise<void>;

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
    await deps.responses.save(owner, { ...kept, response, events: told.isComplete ? told.events : endedEvents(told, response) });
    if (told.isComplete) await append(response);
  };
  return responseWork(request, {
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
  const inlined = async (parts: unknown, loc: readonly (string | number)[]): Promise<unknown> => {
    // A screenshot is not in a list.
    if (!Array.isArray(parts)) return inlinedPart(parts, files, { loc });
    const whole: unknown[] = [];
    // One after the other: the first that is too large ends it before the rest is read.
    for (const [at, part] of parts.entries()) whole.push(await inlinedPart(part, files, { loc: [...loc, at] }));
    return whole;
  };
  const whole: ResponseItem[] = [];
  for (const [index, item] of items.entries()) {
    const { content, output } = item;
    const isPlain = (parts: unknown) => typeof parts !== 'object' || parts === null;
    whole.push({
      ...item,
      ...(!isPlain(content) && { content: await inlined(content, ['input', index, 'content']) }),
      ...(!isPlain(output) && { output: await inlined(output, ['input', index, 'output']) }),
    });
  }
  return whole;
}

const conversationOf = ({ conversation }: Asked): string | null =>
  typeof conversation === 'string' ? conversation : (conversation?.id ?? null);
