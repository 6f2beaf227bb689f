import type { ContentType } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingContentRecordFields } from '../generated/fields.ts';
import { readText } from '../given-file.ts';
import { listOf } from '../option-values.ts';
import { plainText } from '../print.ts';
import { showContent } from './show-content.ts';

interface Options {
  readonly type: ContentType;
  readonly slug: string;
  readonly title: string;
  readonly summary?: string;
  readonly tags?: string[];
}

export const createContent = (content: Command, perform: Perform): Command =>
  withJson(
    MarketingContentRecordFields,
    content
      .command('create')
      .description('Write a draft; `content publish` publishes it')
      .argument('<file>', 'its text (Markdown); - for stdin')
      .requiredOption('--slug <slug>', 'its name in URLs')
      .requiredOption('--title <title>', 'its title')
      .option('--type <type>', 'post, page, changelog, case_study or announcement', 'post')
      .option('--summary <text>', 'a sentence or two for lists')
      .option('--tags <list>', 'comma-separated', listOf),
  ).action(perform(create));

async function create(world: CommandWorld, { args: [file = ''], options }: Typed<Options>): Promise<void> {
  const body = await readText(world, file);
  const client = await world.connect('session');
  const piece = await client.content.create({ ...options, body }, { signal: world.signal });
  showContent(world, piece);
  world.err.write(plainText(`A draft: \`tallygate content publish ${piece.content_id}\` publishes it.\n`));
}
