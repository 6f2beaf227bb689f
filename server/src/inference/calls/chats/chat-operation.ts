import { ChatCompletionRequest, contract } from '@tallygate/contract';
import { requireKeepable, type Storing } from '../../stored-content/index.ts';
import type { Caller } from '../call-context.ts';
import { chatWork } from '../chat-work.ts';
import { FileInliner, inlinedChatPart, type OpenFile } from '../inline-files.ts';
import { type Operation, operation } from '../operation.ts';
import { inlineAudioTokens } from '../recordings/inline-audio.ts';
import type { Recordings } from '../recordings/recordings.ts';
import { ownerOf } from '../responses/wire.ts';
import { isRecord, usageForClient } from '../usage.ts';
import type { Work } from '../work.ts';
import type { StoredChats } from './stored-chats.ts';

interface ChatDeps {
  readonly chats: Pick<StoredChats, 'save'>;
  readonly openFile: OpenFile;
  readonly storing: Pick<Storing, 'requireOn'>;
  readonly recordings: Recordings;
}

/** `POST /v1/chat/completions`: stored files are put into the request, and with `store: true` the completion is kept. */
export const chatOperation = (deps: ChatDeps): Operation =>
  operation(contract.inference.createChatCompletion, {
    schema: ChatCompletionRequest,
    // Most requests name no file and have no audio, and need no turn of the event loop to find out.
    work: (request, received, caller) => {
      const workOf = ({ whole, audioTokens }: Whole) => keeping(chatWork(whole, received, audioTokens), request, caller, deps);
      const ready = () => (hasMedia(request) ? withMedia(request, caller, deps).then(workOf) : workOf({ whole: request }));
      if (request['store'] !== true) return ready();
      requireKeepable(received.bytes.length);
      return deps.storing.requireOn(ownerOf(caller).accountId).then(ready);
    },
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

const hasMedia = ({ messages }: ChatCompletionRequest): boolean =>
  messages.some(
    ({ content }) =>
      Array.isArray(content) && content.some((part) => part.type === 'input_audio' || (part.type === 'file' && part.file['file_id'])),
  );

/** A request with its files inside, and its audio measured. */
interface Whole {
  readonly whole: ChatCompletionRequest;
  readonly audioTokens?: number | undefined;
}

async function withMedia(request: ChatCompletionRequest, caller: Caller, deps: ChatDeps): Promise<Whole> {
  const parts = request.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const audio = parts.flatMap((part) => (part.type === 'input_audio' ? [part.input_audio.data] : []));
  return { whole: await withFiles(request, caller, deps), audioTokens: await inlineAudioTokens(audio, deps.recordings) };
}

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
