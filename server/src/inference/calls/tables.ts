import { tablesOf } from '../../kernel/statements.ts';
import type {
  CachedAnswer,
  Conversation,
  ConversationItem,
  DeploymentSetAside,
  StoredChatCompletion,
  StoredResponse,
  StoredResponseEvent,
  StoredResponseItem,
  StoredResponseStream,
} from './entities.ts';

export const tables = tablesOf<
  | typeof CachedAnswer
  | typeof Conversation
  | typeof ConversationItem
  | typeof DeploymentSetAside
  | typeof StoredChatCompletion
  | typeof StoredResponse
  | typeof StoredResponseEvent
  | typeof StoredResponseItem
  | typeof StoredResponseStream
>();
