import type { VideoCharacter } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { VideoCharacterFields } from '../generated/fields.ts';
import { type Column, printRecord } from '../print.ts';
import { openMedia } from './media-file.ts';

interface Options {
  readonly file?: string;
  readonly video?: string;
  readonly model?: string;
}

const LINES: readonly Column<VideoCharacter>[] = [
  { title: 'Id', of: ({ id }) => id },
  { title: 'Name', of: ({ name }) => name },
  { title: 'Created', of: ({ created_at }) => new Date(created_at * 1000).toISOString() },
];

/** Who can appear in videos. */
export function videoCharacters(videos: Command, perform: Perform): void {
  const characters = videos.command('characters').description('Characters, for `videos create --character`');
  withJson(
    VideoCharacterFields,
    characters
      .command('create')
      .description('Create a character from a video; it costs nothing')
      .argument('<name>', 'its name in prompts')
      .option('--file <file>', 'a video file, MP4')
      .option('--video <video-id>', 'or a completed video of yours')
      .option('-m, --model <id>', 'the video model whose provider stores it'),
  ).action(perform(create));
  withJson(VideoCharacterFields, characters.command('get').description('Show a character').argument('<character-id>')).action(perform(get));
}

async function create(world: CommandWorld, { args: [name = ''], options: { file, video: id, model } }: Typed<Options>): Promise<void> {
  if ((file === undefined) === (id === undefined)) throw new Failure('usage', 'Give one of --file and --video.', EXIT.usage);
  const video = file === undefined ? { id: id ?? '' } : await openMedia(world, file);
  const client = await world.connect();
  const made = await client.videos.createCharacter({ name, video, ...(model && { model }) }, { signal: world.signal });
  printRecord(world, made, LINES);
}

async function get(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.videos.getCharacter(id, { signal: world.signal }), LINES);
}
