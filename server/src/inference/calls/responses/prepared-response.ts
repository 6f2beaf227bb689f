import type { ResponseItem, ResponseRequest } from '@tallygate/contract';
import type { Clock } from '../../../kernel/clock.ts';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { breather } from '../../../kernel/turn.ts';
import type { Catalog } from '../../../money/catalog/index.ts';
import type { Storing } from '../../stored-content/index.ts';
import type { Caller } from '../call-context.ts';
import { FileInliner, inlinedPart, type OpenFile } from '../inline-files.ts';
import { inlineAudioTokens } from '../recordings/inline-audio.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { Tokenizer } from '../tokenizer.ts';
import type { BackgroundResponses } from './background-responses.ts';
import { expandCompaction } from './compaction.ts';
import type { Conversations } from './conversations.ts';
import { withIds } from './ids.ts';
import { checkedItems, wholeItem } from './items.ts';
import { audioOf } from './media.ts';
import { resolveReferences } from './referred-items.ts';
import { inputItems, sentBytes } from './response-input.ts';
import type { Owner, StoredResponses } from './stored-responses.ts';
import { fitToWindow } from './window.ts';
import { ownerOf } from './wire.ts';

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
  const asked = withIds(await resolveReferences(given, { owner, before, responses: deps.responses }));
  await rest();
  const input = asked.map(wholeItem);
  await rest();
  const all = await withFiles([...before, ...asked].map(expandCompaction), owner, deps.openFile);
  await rest();
  return { input, all, previousResponseId, conversationId };
}

/** What the result of the request shows, independent of the provider. */
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
  const rest = breather();
  for (const [index, item] of items.entries()) {
    await rest();
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

export const conversationOf = ({ conversation }: Asked): string | null =>
  typeof conversation === 'string' ? conversation : (conversation?.id ?? null);
