import type { ChatCompletion, contract } from '@tallygate/contract';
import type { Handlers } from '../../../http/index.ts';
import type { Json } from '../responses/stored-responses.ts';
import { ownerOf, pageOf, pageWithin } from '../responses/wire.ts';
import { isRecord } from '../usage.ts';
import type { StoredChats } from './stored-chats.ts';

export const storedChatRoutes = (chats: StoredChats): Handlers<typeof contract.storedChats> => ({
  list: async ({ principal, query }) => {
    const page = await chats.list(ownerOf({ principal }), { ...query, metadata: pairsIn(query) });
    return { status: 200, body: pageOf(page.chats.map(toWire), page.hasMore) };
  },
  get: async ({ principal, params }) => ({ status: 200, body: toWire(await chats.get(ownerOf({ principal }), params.completion_id)) }),
  update: async ({ principal, params, body }) => ({
    status: 200,
    body: toWire(await chats.update(ownerOf({ principal }), params.completion_id, body.metadata ?? {})),
  }),
  delete: async ({ principal, params }) => {
    await chats.delete(ownerOf({ principal }), params.completion_id);
    return { status: 200, body: { id: params.completion_id, object: 'chat.completion.deleted', deleted: true } };
  },
  messages: async ({ principal, params, query }) => {
    const messages = await chats.messages(ownerOf({ principal }), params.completion_id);
    return { status: 200, body: pageWithin(messages.map(messageToWire(params.completion_id)), query) };
  },
});

/** What is kept was checked to be a completion when it came. */
const toWire = (completion: Json): ChatCompletion => completion as ChatCompletion;

const messageToWire = (completionId: string) => (message: Json, index: number) => {
  const { role, content } = message;
  const parts = Array.isArray(content) ? content.filter(isRecord) : null;
  const texts = parts?.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])) ?? [];
  const shown = parts?.filter(({ type }) => type === 'text' || type === 'image_url');
  return {
    ...message,
    id: `${completionId}-${index}`,
    role: String(role),
    content: parts ? (texts.length > 0 ? texts.join('') : null) : typeof content === 'string' ? content : null,
    content_parts: shown?.map((part) => ({ ...part, type: String(part['type']) })) ?? null,
  };
};

/** `metadata[topic]=demo`, as OpenAI's clients write it. */
const pairsIn = (query: Json): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => {
      const key = /^metadata\[(.{1,64})\]$/s.exec(name)?.[1];
      return key !== undefined && typeof value === 'string' ? [[key, value]] : [];
    }),
  );
