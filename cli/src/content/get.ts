import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingContentRecordFields } from '../generated/fields.ts';
import { plainText } from '../print.ts';
import { showContent } from './show-content.ts';

interface Options {
  readonly body?: true;
}

export const getContent = (content: Command, perform: Perform): Command =>
  withJson(
    MarketingContentRecordFields,
    content
      .command('get')
      .description('Show one content item')
      .argument('<id>', 'its id')
      .option('--body', 'print only its text (Markdown)'),
  ).action(perform(get));

async function get(world: CommandWorld, { args: [id = ''], options }: Typed<Options>): Promise<void> {
  const client = await world.connect();
  const piece = await client.content.get(id, { signal: world.signal });
  if (options.body) world.out.write(plainText(piece.body.endsWith('\n') ? piece.body : `${piece.body}\n`));
  else showContent(world, piece);
}
