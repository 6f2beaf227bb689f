import type { ChatCompletion, ChatCompletionMessage } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { ChatCompletionFields } from '../generated/fields.ts';
import { pairs } from '../option-values.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { MAX_OPENAI_PAGE, type PageOptions, printPages, withPages } from '../print-pages.ts';
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

interface ListOptions extends PageOptions {
  readonly model?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Chat completions that were made with `store: true`. */
export function storedChatCommands(chats: Command, perform: Perform): void {
  withJson(
    FIELDS,
    withPages(
      chats
        .command('list')
        .description('List stored chat completions, newest first')
        .option('--model <id>', 'only those of this model')
        .option('--metadata <name=value>', 'only those with this metadata; repeatable', pairs),
    ),
  ).action(perform(list));
  withJson(FIELDS, chats.command('get').description('Show a stored chat completion').argument('<completion-id>')).action(perform(get));
  withJson(
    MESSAGE_FIELDS,
    withPages(chats.command('messages').description('List the messages of a stored chat completion').argument('<completion-id>')),
  ).action(perform(messages));
  chats
    .command('delete')
    .description('Delete a stored chat completion with its messages, permanently')
    .argument('<completion-id>')
    .action(perform(remove));
}

async function list(world: CommandWorld, { options }: Typed<ListOptions>): Promise<void> {
  const { model, metadata } = options;
  const { chat } = await world.connect();
  await printPages(world, options, {
    columns: COLUMNS,
    maxPage: MAX_OPENAI_PAGE,
    list: (limit) => chat.completions.list({ model, metadata, order: 'desc', limit }, { signal: world.signal }),
  });
}

async function get(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.chat.completions.get(id, { signal: world.signal }), COLUMNS);
}

async function messages(world: CommandWorld, { args: [id = ''], options }: Typed<PageOptions>): Promise<void> {
  const { chat } = await world.connect();
  await printPages(world, options, {
    columns: MESSAGE_COLUMNS,
    maxPage: MAX_OPENAI_PAGE,
    list: (limit) => chat.completions.messages(id, { limit }, { signal: world.signal }),
  });
}

async function remove(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  await client.chat.completions.delete(id, { signal: world.signal });
  world.err.write(plainText(`Deleted ${id}.\n`));
}
