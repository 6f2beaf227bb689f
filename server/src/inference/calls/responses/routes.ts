import type { Conversation as ConversationObject, contract, ResponseObject } from '@tallygate/contract';
import type { Handlers } from '../../../http/index.ts';
import type { Conversation, Conversations } from './conversations.ts';
import { countInput } from './input-tokens.ts';
import { checkedItems } from './items.ts';
import type { ResponseDeps } from './prepared-response.ts';
import type { Json } from './stored-responses.ts';
import { ENCRYPTED_REASONING, includedIn, ownerOf, pageOf, pageWithin, shownResponse, unixSeconds, withoutEncrypted } from './wire.ts';

export const storedResponseRoutes = (deps: ResponseDeps): Handlers<typeof contract.storedResponses> => {
  const { responses, background } = deps;
  return {
    get: async ({ principal, params, query, setHeader }) => {
      const { response, receiptPromise } = await responses.get(ownerOf({ principal }), params.response_id);
      if (receiptPromise !== null) setHeader('x-receipt-promise', receiptPromise);
      return { status: 200, body: toWire(response, query) };
    },
    delete: async ({ principal, params }) => {
      await responses.delete(ownerOf({ principal }), params.response_id);
      return { status: 200, body: { id: params.response_id, object: 'response', deleted: true } };
    },
    cancel: async ({ principal, params }) => {
      const owner = ownerOf({ principal });
      await background.cancel(owner, params.response_id, (await responses.get(owner, params.response_id)).response);
      return { status: 200, body: toWire((await responses.get(owner, params.response_id)).response, {}) };
    },
    inputItems: async ({ principal, params, query }) => {
      const input = await responses.input(ownerOf({ principal }), params.response_id);
      return { status: 200, body: pageWithin(shownItems(input, query), query) };
    },
    countTokens: async ({ principal, body }) => ({
      status: 200,
      body: { object: 'response.input_tokens', input_tokens: await countInput(body, ownerOf({ principal }), deps) },
    }),
  };
};

export const conversationRoutes = (conversations: Conversations): Handlers<typeof contract.conversations> => ({
  create: async ({ principal, body }) => ({
    status: 200,
    body: conversationToWire(
      await conversations.create(ownerOf({ principal }), body?.metadata ?? {}, checkedItems(body?.items ?? [], 'items')),
    ),
  }),
  get: async ({ principal, params }) => ({
    status: 200,
    body: conversationToWire(await conversations.get(ownerOf({ principal }), params.conversation_id)),
  }),
  update: async ({ principal, params, body }) => ({
    status: 200,
    body: conversationToWire(await conversations.update(ownerOf({ principal }), params.conversation_id, body.metadata ?? {})),
  }),
  delete: async ({ principal, params }) => {
    await conversations.delete(ownerOf({ principal }), params.conversation_id);
    return { status: 200, body: { id: params.conversation_id, object: 'conversation.deleted', deleted: true } };
  },
  createItems: async ({ principal, params, body, query }) => {
    const items = await conversations.append(ownerOf({ principal }), params.conversation_id, checkedItems(body.items, 'items'));
    return { status: 200, body: pageOf(shownItems(items, query), false) };
  },
  listItems: async ({ principal, params, query }) => {
    const { items, hasMore } = await conversations.items(ownerOf({ principal }), params.conversation_id, query);
    return { status: 200, body: pageOf(shownItems(items, query), hasMore) };
  },
  getItem: async ({ principal, params, query }) => {
    const item = await conversations.item(ownerOf({ principal }), params.conversation_id, params.item_id);
    const [shown = item] = shownItems([item], query);
    return { status: 200, body: shown };
  },
  deleteItem: async ({ principal, params }) => ({
    status: 200,
    body: conversationToWire(await conversations.deleteItem(ownerOf({ principal }), params.conversation_id, params.item_id)),
  }),
});

/** What is kept was written by us, and what of it a provider wrote differently is shown as it is. */
const toWire = (response: Json, query: Json): ResponseObject =>
  shownResponse(response, includedIn(query).has(ENCRYPTED_REASONING)) as ResponseObject;

const shownItems = <T extends Parameters<typeof withoutEncrypted>[0]>(items: readonly T[], query: Json): T[] =>
  includedIn(query).has(ENCRYPTED_REASONING) ? [...items] : items.map(withoutEncrypted);

const conversationToWire = ({ id, createdAt, metadata }: Conversation): ConversationObject => ({
  id,
  object: 'conversation',
  created_at: unixSeconds(createdAt),
  metadata: { ...metadata },
});
