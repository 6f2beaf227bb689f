import type { ContentType } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { MarketingContentRecordFields } from '../generated/fields.ts';
import { readText } from '../given-file.ts';
import { listOf, nullIfNone, type OrNone, orNone, wholeNumber } from '../option-values.ts';
import { showContent } from './show-content.ts';

interface Options {
  readonly type?: ContentType;
  readonly slug?: string;
  readonly title?: string;
  readonly summary?: OrNone<string>;
  readonly tags?: string[];
  readonly file?: string;
  readonly from?: number;
}

export const updateContent = (content: Command, perform: Perform): Command =>
  withJson(
    MarketingContentRecordFields,
    content
      .command('update')
      .description('Change content; what is not named stays. What is published changes at once')
      .argument('<id>', 'its id')
      .option('--file <file>', 'another text (Markdown); - for stdin')
      .option('--title <title>', 'another title')
      .option('--slug <slug>', 'another slug, before it was ever published')
      .option('--type <type>', 'another type')
      .option(
        '--summary <text>',
        'another summary; `none` for none',
        orNone('none', (text) => text),
      )
      .option('--tags <list>', 'these tags, comma-separated, and no others', listOf)
      .option('--from <version>', 'refuse if there is a newer version than this; else the newest is changed', wholeNumber()),
  ).action(perform(update));

async function update(world: CommandWorld, { args: [id = ''], options }: Typed<Options>): Promise<void> {
  const { file, from, summary, ...named } = options;
  const body = file === undefined ? undefined : await readText(world, file);
  const changes = { ...named, body, summary: nullIfNone(summary) };
  if (Object.values(changes).every((value) => value === undefined))
    throw new Failure('usage', 'There is nothing to change.', EXIT.usage, '`tallygate content update --help` lists what can be.');
  const client = await world.connect('session');
  const version = from ?? (await client.content.get(id, { signal: world.signal })).version;
  showContent(world, await client.content.update(id, { ...changes, version }, { signal: world.signal }));
}
