import { failed } from '../fault.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamEndpoint, UpstreamFault, UpstreamProvider } from '../port.ts';
import { BedrockApi, type BedrockOptions } from './api.ts';
import { converse } from './converse/converse.ts';
import { claudeChat, claudeMessages } from './invoke/claude.ts';
import { embeddings, isEmbedding } from './invoke/embeddings.ts';
import { familyOf } from './model-family.ts';

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const EMBEDDINGS = '/v1/embeddings';

/**
 * Amazon Bedrock (`https://bedrock-runtime.<region>.amazonaws.com`): chats as Converse, which all of its models have, and as Anthropic's
 * Messages for Claude, whose requests and answers pass as they are.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function bedrock(options: BedrockOptions): UpstreamProvider {
  const api = new BedrockApi(options);

  const call = async (one: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault> => {
    switch (one.endpoint) {
      case CHAT:
        return familyOf(one.model) === 'claude' ? claudeChat(api, one) : converse(api, one);
      case MESSAGES:
        return claudeMessages(api, one);
      case EMBEDDINGS:
        return embeddings(api, one);
      default:
        return failed(`Bedrock is not asked for ${one.endpoint}.`, null);
    }
  };

  return { serves, call, close: () => api.close() };
}

function serves(endpoint: UpstreamEndpoint, model?: string): boolean {
  if (endpoint === CHAT) return model === undefined || !isEmbedding(model);
  if (endpoint === MESSAGES) return model === undefined || familyOf(model) === 'claude';
  return endpoint === EMBEDDINGS && (model === undefined || isEmbedding(model));
}
