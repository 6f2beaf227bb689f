import type { Call, Tallygate, Video } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { VideoFields } from '../generated/fields.ts';
import { promptOf, writeRemark } from '../inference/prompt.ts';
import { showVideo } from './show-video.ts';

interface Options {
  readonly seconds: string;
}

interface DeriveOptions extends Options {
  readonly id: string;
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/** What makes another video of a completed one: each is a job that is charged on its own. */
export function derivedVideos(videos: Command, perform: Perform): void {
  const derive = (name: string, description: string, what: string) =>
    withJson(
      VideoFields,
      videos
        .command(name)
        .description(description)
        .argument('<video-id>')
        .argument('[prompt...]', `${what}; read from stdin when left out`),
    );
  derive('remix', 'Create another video like it; charged as a separate video', 'what is to be different').action(
    perform(begin('remix', 'The same, at night.', (client, { id, prompt, signal }) => client.videos.remix(id, { prompt }, { signal }))),
  );
  derive('edit', 'Create a changed version of a video; charged as a separate video', 'what is to be different').action(
    perform(begin('edit', 'Make it night.', (client, { id, prompt, signal }) => client.videos.edit({ video: { id }, prompt }, { signal }))),
  );
  derive('extend', 'Extend a completed video; charged for the added seconds', 'what happens next')
    .requiredOption('--seconds <seconds>', 'how much longer, such as 4')
    .action(
      perform(
        begin('extend', 'The book closes.', (client, { id, prompt, seconds, signal }) =>
          client.videos.extend({ video: { id }, prompt, seconds }, { signal }),
        ),
      ),
    );
}

const begin =
  (name: string, example: string, call: (client: Tallygate, options: DeriveOptions) => Call<Video>) =>
  async (world: CommandWorld, { args: [id = '', ...words], options }: Typed<Options>): Promise<void> => {
    const prompt = await promptOf(world, words, { what: 'prompt', example: `tallygate videos ${name} video_… "${example}"` });
    const client = await world.connect();
    const { data, receiptId, costUsd } = await call(client, { ...options, id, prompt, signal: world.signal }).withResponse();
    writeRemark(world, { cost: costUsd, receiptId, model: data.model });
    showVideo(world, data);
  };
