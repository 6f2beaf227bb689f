import type { ChatCompletion, ChatCompletionMessage } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { ChatCompletionFields } from '../generated/fields.ts';
import { pairs, wholeNumber } from '../option-values.ts';
import { type Column, plainText, printList, printRecord } from '../print.ts';
import { costText } from './prompt.ts';

const FIELDS: readonly string[] = [...ChatCompletionFields, 'metadata'];
const MESSAGE_FIELDS: readonly string[] = ['id', 'role', 'content', 'content_parts', 'tool_calls', 'tool_call_id'];

const COLUMNS: readonly Column<ChatCompletion>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'created', of: ({ created }) => new Date(created * 1000).toISOString() },
  { title: 'model', of: ({ model }) => model },
  { title: 'cost', of: ({ usage }) => costText(usage?.cost), align: 'right' },
  { title: 'text', of: ({ choices: [first] }) => first?.message.content },
];

const MESSAGE_COLUMNS: readonly Column<ChatCompletionMessage>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'role', of: ({ role }) => role },
  { title: 'text', of: ({ content }) => content },
];

interface ListOptions {
  readonly model?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly limit: number;
}

const MAX_PAGE = 100;

/** Chat completions that were made with `store: true`. */
export function storedChatCommands(chats: Command, perform: Perform): void {
  withJson(
    FIELDS,
    chats
      .command('list')
      .description('List stored chat completions, newest first')
      .option('--model <id>', 'only those that this model gave')
      .option('--metadata <name=value>', 'only those with this pair; may stand more than once', pairs)
      .option('--limit <n>', 'how many at most', wholeNumber(), 50),
  ).action(perform(list));
  withJson(FIELDS, chats.command('get').description('Show a stored chat completion').argument('<completion-id>')).action(perform(get));
  withJson(
    MESSAGE_FIELDS,
    chats.command('messages').description('List what a stored chat completion answers').argument('<completion-id>'),
  ).action(perform(messages));
  chats
    .command('delete')
    .description('Delete a stored chat completion with its messages, permanently')
    .argument('<completion-id>')
    .action(perform(remove));
}

async function list(world: CommandWorld, { options: { model, metadata, limit } }: Typed<ListOptions>): Promise<void> {
  const client = await world.connect();
  const query = { model, metadata, order: 'desc', limit: Math.min(limit, MAX_PAGE) } as const;
  const found: ChatCompletion[] = [];
  for await (const chat of client.chat.completions.list(query, { signal: world.signal })) {
    found.push(chat);
    if (found.length === limit) break;
  }
  printList(world, found, COLUMNS);
}

async function get(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.chat.completions.get(id, { signal: world.signal }), COLUMNS);
}

async function messages(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  const found: ChatCompletionMessage[] = [];
  for await (const message of client.chat.completions.messages(id, { limit: MAX_PAGE }, { signal: world.signal })) found.push(message);
  printList(world, found, MESSAGE_COLUMNS);
}

async function remove(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  await client.chat.completions.delete(id, { signal: world.signal });
  world.err.write(plainText(`Deleted ${id}.\n`));
}
