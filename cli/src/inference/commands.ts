import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { chat } from './chat.ts';
import { conversationCommands } from './conversations/conversations.ts';
import { image, speak, transcribe } from './media.ts';
import { createResponse } from './responses/create.ts';
import { keptResponses } from './responses/kept.ts';
import { storedChatCommands } from './stored-chats.ts';
import { embed, moderate } from './texts.ts';

/** Everything that asks models. */
export function inferenceCommands(program: Command, perform: Perform): void {
  chat(program, perform);
  embed(program, perform);
  moderate(program, perform);
  image(program, perform);
  speak(program, perform);
  transcribe(program, perform);
  const responses = program.command('responses').description('Answers that are kept, and can be gone on from');
  createResponse(responses, perform);
  keptResponses(responses, perform);
  conversationCommands(program.command('conversations').description('Dialogues that are kept until they are deleted'), perform);
  storedChatCommands(program.command('chats').description('Chat completions that were made with store: true'), perform);
}
