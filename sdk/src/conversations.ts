import type {
  Conversation,
  ConversationDeleted,
  CreateConversationRequest,
  CreateItemsRequest,
  ResponseItem,
  ResponseItemList,
  UpdateConversationRequest,
} from './generated/models.ts';
import type { ItemQuery } from './responses.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import { Resource } from './transport/resource.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.conversations.items`: the items of a conversation. */
export class ConversationItems extends Resource {
  /** Adds at most 20 items at the end, in order. The answer has them with their ids. */
  create(conversationId: string, request: CreateItemsRequest, options?: CallOptions): Call<ResponseItemList> {
    return this.transport.json({ method: 'POST', path: itemsPath(conversationId), body: request, isOnce: true }, options);
  }

  /** The items, newest first: the page that was asked for, or all from there on with `for await`. */
  list(conversationId: string, query: ItemQuery = {}, options?: CallOptions): PagedCall<ResponseItemList, ResponseItem> {
    return this.transport.pages({ path: itemsPath(conversationId), query: { ...query } }, options);
  }

  /** One item, as it was put there. */
  get(conversationId: string, itemId: string, options?: CallOptions): Call<ResponseItem> {
    return this.transport.json({ method: 'GET', path: itemPath(conversationId, itemId) }, options);
  }

  /** The conversation continues without the item. */
  delete(conversationId: string, itemId: string, options?: CallOptions): Call<Conversation> {
    return this.transport.json({ method: 'DELETE', path: itemPath(conversationId, itemId) }, options);
  }
}

/** `tallygate.conversations`: dialogues that are stored until they are deleted. Responses that name one continue it and add to it. */
export class Conversations extends Resource {
  readonly items: ConversationItems;

  constructor(transport: Transport) {
    super(transport);
    this.items = new ConversationItems(transport);
  }

  /** A new conversation, with at most 20 first items. */
  create(request: CreateConversationRequest = {}, options?: CallOptions): Call<Conversation> {
    return this.transport.json({ method: 'POST', path: '/v1/conversations', body: request, isOnce: true }, options);
  }

  /** Its metadata; its content is in `items`. */
  get(conversationId: string, options?: CallOptions): Call<Conversation> {
    return this.transport.json({ method: 'GET', path: conversationPath(conversationId) }, options);
  }

  /** Puts metadata in the place of the old, all of it. */
  update(conversationId: string, request: UpdateConversationRequest, options?: CallOptions): Call<Conversation> {
    return this.transport.json({ method: 'POST', path: conversationPath(conversationId), body: request }, options);
  }

  /** Deletes it with its items, permanently. Responses that were made in it stay. */
  delete(conversationId: string, options?: CallOptions): Call<ConversationDeleted> {
    return this.transport.json({ method: 'DELETE', path: conversationPath(conversationId) }, options);
  }
}

const conversationPath = (conversationId: string): string => `/v1/conversations/${pathStep(conversationId)}`;
const itemsPath = (conversationId: string): string => `${conversationPath(conversationId)}/items`;
const itemPath = (conversationId: string, itemId: string): string => `${itemsPath(conversationId)}/${pathStep(itemId)}`;
