import * as z from 'zod';
import { binary } from '../conventions.ts';

const unixSeconds = z.int().meta({ description: 'When it was made, unix seconds.', examples: [1763712000] });
const CHARACTER_ID = 'char_019aa2f1c2d37b6e8c4d1f00aa55ee88';

/** A completed video of the caller’s own. */
export const VideoReference = z
  .looseObject({ id: z.string().min(1).max(200) }, 'must be `{"id": …}` of a completed video of yours: nothing says how long a file is')
  .meta({
    id: 'VideoReference',
    description: 'A completed video of the account.',
    examples: [{ id: 'video_019aa2f1c2d37b6e8c4d1f00aa55ee77' }],
  });
export type VideoReference = z.infer<typeof VideoReference>;

/** A character in a video. */
export const VideoCharacterReference = z
  .looseObject({ id: z.string().min(1).max(200) })
  .meta({ id: 'VideoCharacterReference', description: 'A character of the account.', examples: [{ id: CHARACTER_ID }] });
export type VideoCharacterReference = z.infer<typeof VideoCharacterReference>;

/** The fields of a character beside the file that shows it. */
export const VideoCharacterRequest = z
  .looseObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(80)
      .meta({ description: 'What prompts call it by.', examples: ['Ada'] }),
    model: z
      .string()
      .min(1)
      .max(200)
      .default('sora-2')
      .meta({ description: 'The video model whose provider is to keep it. Not OpenAI’s.', examples: ['sora-2'] }),
    video: VideoReference.optional().meta({ description: 'A completed video of yours, in place of a file. Not OpenAI’s.' }),
  })
  .meta({
    id: 'VideoCharacterRequest',
    description: 'A character, shown by a video: a file of the form, or a completed video of the account.',
    examples: [{ name: 'Ada' }],
  });
export type VideoCharacterRequest = z.infer<typeof VideoCharacterRequest>;

/** The same with its file, as a form has it. */
export const characterForm = VideoCharacterRequest.extend({ video: binary('A video that shows the character: MP4.').optional() });

export const VideoCharacter = z
  .object({
    id: z
      .string()
      .nullable()
      .meta({ description: 'What the `characters` of a video are named by.', examples: [CHARACTER_ID] }),
    name: z
      .string()
      .nullable()
      .meta({ examples: ['Ada'] }),
    created_at: unixSeconds,
  })
  .meta({ id: 'VideoCharacter', description: 'A character, in OpenAI’s shape.' });
export type VideoCharacter = z.infer<typeof VideoCharacter>;
