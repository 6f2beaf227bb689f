import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { binary, headersA, idempotencyHeader } from '../conventions.ts';
import { inferenceHeaders, inferenceRefusals } from './headers.ts';
import { userField } from './model-fields.ts';
import { characterForm, VideoCharacter, VideoCharacterReference, VideoReference } from './video-characters.ts';
import { Video, VideoPath } from './videos.ts';

const c = initContract();

const prompt = z.string().min(1).max(32_000);
const seconds = z.union(
  [
    z
      .string()
      .regex(/^\d{1,3}$/)
      .meta({ examples: ['4'] }),
    z.int().min(1).max(999).transform(String),
  ],
  'must be seconds such as "4"',
);
const MOST_CHARACTERS = 16;

export const VideoRequest = z
  .looseObject({
    model: z
      .string()
      .min(1)
      .max(200)
      .default('sora-2')
      .meta({ description: 'A video model of the catalogue.', examples: ['sora-2'] }),
    prompt: prompt.meta({ examples: ['A ledger turning its own pages'] }),
    seconds: seconds.nullable().optional().meta({ description: 'Length. Default: `"4"`.' }),
    size: z
      .string()
      .regex(/^\d{2,5}x\d{2,5}$/, 'must be a size such as "720x1280"')
      .nullable()
      .optional()
      .meta({ examples: ['720x1280'] }),
    characters: z
      .array(VideoCharacterReference)
      .max(MOST_CHARACTERS)
      .nullable()
      .optional()
      .meta({ description: 'Who is to appear; the prompt calls them by their names.' }),
    user: userField,
  })
  .meta({
    id: 'VideoRequest',
    description: 'OpenAI’s video request: JSON, or a form with `input_reference` as a file.',
    examples: [{ model: 'sora-2', prompt: 'A ledger turning its own pages', seconds: '4' }],
  });
export type VideoRequest = z.infer<typeof VideoRequest>;

/** Everything but the prompt is that of the video it is made of. */
export const VideoRemixRequest = z
  .looseObject({ prompt: prompt.meta({ description: 'What is to be different.', examples: ['The same, at night'] }) })
  .meta({ id: 'VideoRemixRequest', description: 'What is to be different from the video that is remixed.' });
export type VideoRemixRequest = z.infer<typeof VideoRemixRequest>;

export const VideoEditRequest = z
  .looseObject({ video: VideoReference, prompt: prompt.meta({ description: 'What is to be different.', examples: ['Make it night'] }) })
  .meta({ id: 'VideoEditRequest', description: 'What is to be changed in a completed video.' });
export type VideoEditRequest = z.infer<typeof VideoEditRequest>;

export const VideoExtensionRequest = z
  .looseObject({
    video: VideoReference,
    prompt: prompt.meta({ description: 'How it goes on.', examples: ['The book closes'] }),
    seconds: seconds.meta({ description: 'How much longer it is to be.' }),
  })
  .meta({ id: 'VideoExtensionRequest', description: 'How a completed video is to go on.' });
export type VideoExtensionRequest = z.infer<typeof VideoExtensionRequest>;

const creation = VideoRequest.extend({ input_reference: binary('A picture to begin with, of the size of the video.').optional() });
const headers = { ...headersA, ...inferenceHeaders, ...idempotencyHeader };

/** The operations that begin a job, and the one that makes a character for them. */
export const videoJobs = c.router({
  createVideo: {
    method: 'POST',
    path: '/v1/videos',
    summary: 'Begin a video',
    description:
      'OpenAI’s video job, as a form or as JSON. What it costs is charged when a provider has taken the job, and given back in full when the job fails.',
    headers,
    contentType: 'multipart/form-data',
    body: creation,
    responses: { 200: Video, ...inferenceRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      stores: true,
      tag: 'Videos',
      operationId: 'createVideo',
      body: 'form-or-json',
    } as const,
  },
  generateVideo: {
    method: 'POST',
    path: '/v1/video/generations',
    summary: 'Begin a video (alias)',
    description: 'The same as `POST /v1/videos`.',
    headers,
    contentType: 'multipart/form-data',
    body: creation,
    responses: { 200: Video, ...inferenceRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      stores: true,
      tag: 'Videos',
      operationId: 'generateVideo',
      body: 'form-or-json',
    } as const,
  },
  remixVideo: {
    method: 'POST',
    path: '/v1/videos/:video_id/remix',
    summary: 'Remix a video',
    description: 'Another video of the same length, size and model, made of a completed one. It is a separate job, at the same price.',
    headers,
    pathParams: VideoPath,
    body: VideoRemixRequest,
    responses: { 200: Video, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', stores: true, tag: 'Videos', operationId: 'remixVideo', body: 'form-or-json' } as const,
  },
  editVideo: {
    method: 'POST',
    path: '/v1/videos/edits',
    summary: 'Edit a video',
    description:
      'A completed video of the account, changed as the prompt says: JSON, or a form with `video[id]`. A separate job of the same length, size and model, charged for all of its seconds. Files are refused with 400: nothing says how long they are.',
    headers,
    body: VideoEditRequest,
    responses: { 200: Video, ...inferenceRefusals },
    metadata: { auth: 'bearer', scope: 'inference', stores: true, tag: 'Videos', operationId: 'editVideo', body: 'form-or-json' } as const,
  },
  extendVideo: {
    method: 'POST',
    path: '/v1/videos/extensions',
    summary: 'Extend a video',
    description:
      'A completed video of the account with so many seconds more: JSON, or a form with `video[id]`. A separate job, charged for the seconds that are added; its `seconds` are those of the whole. Files are refused with 400.',
    headers,
    body: VideoExtensionRequest,
    responses: { 200: Video, ...inferenceRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      stores: true,
      tag: 'Videos',
      operationId: 'extendVideo',
      body: 'form-or-json',
    } as const,
  },
  createVideoCharacter: {
    method: 'POST',
    path: '/v1/videos/characters',
    summary: 'Create a character',
    description:
      'Somebody who can appear in videos, shown by a file of the form or by a completed video of the account (`video[id]`). It costs nothing, and lives at one provider: videos with it are made there.',
    headers,
    contentType: 'multipart/form-data',
    body: characterForm,
    responses: { 200: VideoCharacter, ...inferenceRefusals },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      stores: true,
      tag: 'Videos',
      operationId: 'createVideoCharacter',
      body: 'form-or-json',
    } as const,
  },
});
