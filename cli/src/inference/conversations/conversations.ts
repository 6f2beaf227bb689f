import type { Conversation, ResponseItem } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { ConversationFields } from '../../generated/fields.ts';
import { pairs } from '../../option-values.ts';
import { type Column, plainText, printRecord } from '../../print.ts';
import { promptOf } from '../prompt.ts';
import { ITEM_FIELDS, showItems } from '../responses/show-response.ts';

const LINES: readonly Column<Conversation>[] = [
  { title: 'Id', of: ({ id }) => id },
  { title: 'Created', of: ({ created_at }) => new Date(created_at * 1000).toISOString() },
  {
    title: 'Metadata',
    of: ({ metadata }) =>
      Object.entries(metadata)
        .map(([name, value]) => `${name}=${value}`)
        .join(', '),
  },
];

interface CreateOptions {
  readonly metadata?: Readonly<Record<string, string>>;
}

interface AddOptions {
  readonly role: string;
}

const ROLES = ['user', 'assistant', 'system', 'developer'];

/** Stored dialogues. */
export function conversationCommands(conversations: Command, perform: Perform): void {
  withJson(
    ConversationFields,
    conversations
      .command('create')
      .description('Create a conversation; `responses create --conversation` continues it')
      .option('--metadata <name=value>', 'metadata to store with it; repeatable', pairs),
  ).action(perform(create));
  withJson(ConversationFields, conversations.command('get').description('Show a conversation').argument('<conversation-id>')).action(
    perform(get),
  );
  withJson(
    ITEM_FIELDS,
    conversations.command('items').description('List the items of a conversation, oldest first').argument('<conversation-id>'),
  ).action(perform(items));
  withJson(
    ITEM_FIELDS,
    conversations
      .command('add')
      .description('Add a message to a conversation, without asking a model')
      .argument('<conversation-id>')
      .argument('[text...]', 'the text; read from stdin when left out')
      .addOption(new Option('--role <role>', 'author of the item').choices(ROLES).default('user')),
  ).action(perform(add));
  conversations
    .command('delete')
    .description('Delete a conversation with its items, permanently')
    .argument('<conversation-id>')
    .action(perform(remove));
}

async function create(world: CommandWorld, { options: { metadata } }: Typed<CreateOptions>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.conversations.create(metadata ? { metadata } : {}, { signal: world.signal }), LINES);
}

async function get(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.conversations.get(id, { signal: world.signal }), LINES);
}

async function items(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  const found: ResponseItem[] = [];
  for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 100 }, { signal: world.signal })) found.push(item);
  showItems(world, found);
}

async function add(world: CommandWorld, { args: [id = '', ...words], options: { role } }: Typed<AddOptions>): Promise<void> {
  const text = await promptOf(world, words, { what: 'text', example: 'tallygate conversations add CONVERSATION "Hello."' });
  const client = await world.connect();
  const content = [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }];
  const request = { items: [{ type: 'message', role, content }] };
  showItems(world, (await client.conversations.items.create(id, request, { signal: world.signal })).data);
}

async function remove(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  await client.conversations.delete(id, { signal: world.signal });
  world.err.write(plainText(`Deleted ${id}.\n`));
}
