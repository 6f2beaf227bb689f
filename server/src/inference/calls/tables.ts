import { tablesOf } from '../../kernel/statements.ts';
import type {
  Conversation,
  ConversationItem,
  StoredChatCompletion,
  StoredResponse,
  StoredResponseEvent,
  StoredResponseItem,
  StoredResponseStream,
} from './entities.ts';

export const tables = tablesOf<
  | typeof Conversation
  | typeof ConversationItem
  | typeof StoredChatCompletion
  | typeof StoredResponse
  | typeof StoredResponseEvent
  | typeof StoredResponseItem
  | typeof StoredResponseStream
>();
