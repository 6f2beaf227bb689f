import type { Video } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { VideoFields } from '../generated/fields.ts';
import type { Column } from '../print.ts';
import { MAX_OPENAI_PAGE, type PageOptions, printPages, withPages } from '../print-pages.ts';
import { followVideo, seconds } from './follow-video.ts';
import { createdText, showVideo } from './show-video.ts';

const COLUMNS: readonly Column<Video>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'status', of: ({ status }) => status },
  { title: 'progress', of: ({ progress }) => `${progress} %`, align: 'right' },
  { title: 'model', of: ({ model }) => model },
  { title: 'created', of: createdText },
];

/** Commands on an existing video. */
export function keptVideos(videos: Command, perform: Perform): void {
  withJson(VideoFields, withPages(videos.command('list').description('List videos, newest first'))).action(perform(list));
  withJson(VideoFields, videos.command('get').description('Show the progress of a video').argument('<video-id>')).action(perform(get));
  withJson(
    VideoFields,
    videos
      .command('wait')
      .description('Wait until a video is ready; exit code 1 if it fails')
      .argument('<video-id>')
      .option('--every <seconds>', 'polling interval', seconds, 2),
  ).action(perform(wait));
  videos
    .command('download')
    .description('Download a video')
    .argument('<video-id>')
    .addOption(new Option('--variant <which>', 'or a still image').choices(['video', 'thumbnail', 'spritesheet']).default('video'))
    .requiredOption('-o, --output <file>', 'where to; - for stdout')
    .action(perform(download));
  videos.command('delete').description('Delete a video permanently, or cancel it').argument('<video-id>').action(perform(remove));
}

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { videos } = await world.connect();
  await printPages(world, options, {
    columns: COLUMNS,
    maxPage: MAX_OPENAI_PAGE,
    list: (limit) => videos.list({ limit }, { signal: world.signal }),
  });
}

async function get(world: CommandWorld, { args: [videoId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  showVideo(world, await client.videos.get(videoId, { signal: world.signal }));
}

async function wait(world: CommandWorld, { args: [videoId = ''], options }: Typed<{ readonly every: number }>): Promise<ExitCode> {
  const video = await followVideo(world, await world.connect(), videoId, options.every);
  showVideo(world, video);
  return video.status === 'completed' ? EXIT.ok : EXIT.failure;
}

interface Download {
  readonly variant: 'video' | 'thumbnail' | 'spritesheet';
  readonly output: string;
}

async function download(world: CommandWorld, { args: [videoId = ''], options }: Typed<Download>): Promise<void> {
  const client = await world.connect();
  const { body } = await client.videos.content(videoId, { variant: options.variant, signal: world.signal });
  await world.saveBytes(options.output, body ?? emptiness());
  if (options.output !== '-') world.err.write(`Wrote ${options.output}.\n`);
}

async function* emptiness(): AsyncGenerator<Uint8Array, void, undefined> {}

async function remove(world: CommandWorld, { args: [videoId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  await client.videos.delete(videoId, { signal: world.signal });
  world.err.write(`Deleted ${videoId}.\n`);
}
