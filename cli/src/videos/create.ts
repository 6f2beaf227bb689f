import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { VideoFields } from '../generated/fields.ts';
import { type RunOptions, runOf, withRun } from '../inference/agent-run.ts';
import { promptOf, writeRemark } from '../inference/prompt.ts';
import { followVideo } from './follow-video.ts';
import { openMedia } from './media-file.ts';
import { showVideo } from './show-video.ts';

interface Options extends RunOptions {
  readonly model: string;
  readonly seconds?: string;
  readonly size?: string;
  readonly picture?: string;
  readonly character?: readonly string[];
  readonly wait?: true;
}

const EVERY_SECONDS = 2;

export const createVideo = (videos: Command, perform: Perform): Command =>
  withJson(
    VideoFields,
    withRun(
      videos
        .command('create')
        .description('Create a video; it is charged now, and given back in full if it fails')
        .argument('[prompt...]', 'what to show; read from stdin when left out')
        .option('-m, --model <id>', 'which model', 'sora-2')
        .option('--seconds <seconds>', 'duration, such as 4')
        .option('--size <size>', 'width and height, such as 720x1280')
        .option('--picture <file>', 'a first frame of that size')
        .option('--character <ids...>', 'existing characters that appear in it')
        .option('--wait', 'until it is ready; exit code 1 if it fails'),
    ),
  ).action(perform(create));

async function create(world: CommandWorld, { args, options }: Typed<Options>): Promise<ExitCode> {
  const { model, seconds, size, picture, character, wait } = options;
  const prompt = await promptOf(world, args, { what: 'prompt', example: 'tallygate videos create "A ledger turning its own pages."' });
  const input_reference = picture === undefined ? undefined : await openMedia(world, picture);
  const client = await world.connect();
  const request = {
    ...{ model, prompt },
    ...(seconds && { seconds }),
    ...(size && { size }),
    ...(input_reference && { input_reference }),
    ...(character && { characters: character.map((id) => ({ id })) }),
  };
  const { data, receiptId, costUsd } = await client.videos.create(request, { ...runOf(options), signal: world.signal }).withResponse();
  writeRemark(world, { cost: costUsd, receiptId, model });
  const video = wait ? await followVideo(world, client, data.id, EVERY_SECONDS) : data;
  showVideo(world, video);
  return video.status === 'failed' ? EXIT.failure : EXIT.ok;
}
