import { ChatCompletionRequest, contract } from '@tallygate/contract';
import type { Caller } from '../call.ts';
import { chatWork } from '../chat-work.ts';
import { FileInliner, inlinedChatPart, type OpenFile } from '../inline-files.ts';
import { type Operation, operation } from '../operation.ts';
import { ownerOf } from '../responses/wire.ts';
import { isRecord, usageForClient } from '../usage.ts';
import type { Work } from '../work.ts';
import type { StoredChats } from './stored-chats.ts';

interface ChatDeps {
  readonly chats: Pick<StoredChats, 'save'>;
  readonly openFile: OpenFile;
}

/** `POST /v1/chat/completions`: stored files are put into the request, and with `store: true` the completion is kept. */
export const chatOperation = (deps: ChatDeps): Operation =>
  operation(contract.inference.createChatCompletion, {
    schema: ChatCompletionRequest,
    // Most requests name no file, and need no turn of the event loop to find out.
    work: (request, { bytes }, caller) =>
      namesFiles(request)
        ? withFiles(request, caller, deps).then((whole) => keeping(chatWork(whole, bytes), request, caller, deps))
        : keeping(chatWork(request, bytes), request, caller, deps),
  });

function keeping(work: Work, request: ChatCompletionRequest, caller: Caller, { chats }: ChatDeps): Work {
  if (request['store'] !== true) return work;
  return {
    ...work,
    async keep(answer, { usage, costUsd }) {
      if (!isRecord(answer)) return;
      const reported = usageForClient(answer['usage'], usage);
      await chats.save(ownerOf(caller), { ...answer, usage: { ...reported, cost: costUsd } }, request);
    },
  };
}

const namesFiles = ({ messages }: ChatCompletionRequest): boolean =>
  messages.some(({ content }) => Array.isArray(content) && content.some((part) => part.type === 'file' && part.file['file_id']));

async function withFiles(request: ChatCompletionRequest, caller: Caller, { openFile }: ChatDeps): Promise<ChatCompletionRequest> {
  const owner = ownerOf(caller);
  const files = new FileInliner((fileId) => openFile(owner, fileId));
  const messages: unknown[] = [];
  for (const [index, message] of request.messages.entries()) {
    const { content } = message;
    if (!Array.isArray(content)) {
      messages.push(message);
      continue;
    }
    const parts: unknown[] = [];
    for (const [at, part] of content.entries()) parts.push(await inlinedChatPart(part, files, { loc: ['messages', index, 'content', at] }));
    messages.push({ ...message, content: parts });
  }
  return ChatCompletionRequest.parse({ ...request, messages });
}
