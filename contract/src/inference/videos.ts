import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { binary, headersA, isPlainText, NOT_PLAIN, problem, refusals, wholeNumber } from '../conventions.ts';
import { VideoCharacter } from './video-characters.ts';

const c = initContract();

const VIDEO_ID = 'video_019aa2f1c2d37b6e8c4d1f00aa55ee77';
const unixSeconds = z.int().meta({ examples: [1763712000] });
const VIDEO_EXAMPLE = {
  id: VIDEO_ID,
  object: 'video',
  model: 'sora-2',
  status: 'in_progress',
  progress: 40,
  created_at: 1763712000,
  completed_at: null,
  expires_at: null,
  prompt: 'A ledger turning its own pages',
  seconds: '4',
  size: '720x1280',
  remixed_from_video_id: null,
  error: null,
  refund_receipt_id: null,
};

export const Video = z
  .looseObject({
    id: z.string().meta({ examples: [VIDEO_ID] }),
    object: z.literal('video'),
    model: z.string().meta({ examples: ['sora-2'] }),
    status: z.enum(['queued', 'in_progress', 'completed', 'failed']).meta({
      description: 'A job that has `failed` is given back in full, with a receipt of kind `refund`.',
    }),
    progress: z.number().meta({ description: 'How far it is, percent.', examples: [40] }),
    created_at: unixSeconds.meta({ description: 'When the job was begun, unix seconds.' }),
    completed_at: unixSeconds.nullable().meta({ description: 'When the video was there to be downloaded, unix seconds.' }),
    expires_at: unixSeconds.nullable().meta({ description: 'Until when it can be downloaded, unix seconds.' }),
    prompt: z
      .string()
      .nullable()
      .meta({ examples: ['A ledger turning its own pages'] }),
    seconds: z.string().meta({ description: 'Length; of an extension, with what it goes on from.', examples: ['4'] }),
    size: z.string().meta({ examples: ['720x1280'] }),
    remixed_from_video_id: z
      .string()
      .nullable()
      .meta({ description: 'The video that this is a remix, an edit or an extension of.', examples: [null] }),
    error: z
      .looseObject({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why it failed.', examples: [null] }),
    refund_receipt_id: z
      .string()
      .nullable()
      .meta({ description: 'The receipt of kind `refund` of a failed job, once its cost is given back. Not OpenAI’s.', examples: [null] }),
  })
  .meta({ id: 'Video', description: 'A video job, in OpenAI’s shape.', examples: [VIDEO_EXAMPLE] });
export type Video = z.infer<typeof Video>;

export const VideoList = z
  .object({
    object: z.literal('list'),
    data: z.array(Video),
    first_id: z.string().meta({ examples: [VIDEO_ID] }),
    last_id: z.string().meta({ description: 'The `after` of the next page; empty where the page is.', examples: [VIDEO_ID] }),
    has_more: z.boolean(),
  })
  .meta({ id: 'VideoList', description: 'A page of videos.' });
export type VideoList = z.infer<typeof VideoList>;

export const VideoDeleted = z
  .object({ id: z.string().meta({ examples: [VIDEO_ID] }), object: z.literal('video.deleted'), deleted: z.literal(true) })
  .meta({ id: 'VideoDeleted', description: 'The video is gone.' });
export type VideoDeleted = z.infer<typeof VideoDeleted>;

export const VIDEO_VARIANTS = ['video', 'thumbnail', 'spritesheet'] as const;

export const VideoPath = z.object({ video_id: z.string().min(1).max(200).meta({ description: 'The video’s id.' }) });

export const videos = c.router({
  list: {
    method: 'GET',
    path: '/v1/videos',
    summary: 'List videos',
    description: 'The account’s videos, newest first. A test key sees those of test mode, everybody else those of live mode.',
    headers: headersA,
    query: z.object({
      after: z
        .string()
        .max(200)
        .refine(isPlainText, NOT_PLAIN)
        .optional()
        .meta({ description: 'Id of the last video of the page before.' }),
      limit: wholeNumber(1, 100).default(20).meta({ description: 'How many at most.' }),
      order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'Oldest or newest first.' }),
    }),
    responses: { 200: VideoList, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Videos', operationId: 'listVideos', sdk: 'videos.list' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/videos/:video_id',
    summary: 'Get a video',
    description: 'The job and how far it is; no older than two seconds where its provider answers.',
    headers: headersA,
    pathParams: VideoPath,
    responses: { 200: Video, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Videos', operationId: 'getVideo', sdk: 'videos.get' } as const,
  },
  delete: {
    method: 'DELETE',
    path: '/v1/videos/:video_id',
    summary: 'Delete a video',
    description:
      'The video and its bytes are permanently gone. A job that is `queued` is given back in full. One that runs is called off at its provider, and given back where that succeeds; where it ends all the same, it is charged.',
    headers: headersA,
    pathParams: VideoPath,
    responses: { 200: VideoDeleted, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Videos', operationId: 'deleteVideo', sdk: 'videos.delete' } as const,
  },
  getCharacter: {
    method: 'GET',
    path: '/v1/videos/characters/:character_id',
    summary: 'Get a character',
    description: 'A character of the account, as it was named.',
    headers: headersA,
    pathParams: z.object({ character_id: z.string().min(1).max(200).meta({ description: 'The character’s id.' }) }),
    responses: { 200: VideoCharacter, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Videos', operationId: 'getVideoCharacter', sdk: 'videos.getCharacter' } as const,
  },
});

const bytesOfVideo = c.otherResponse({ contentType: 'video/mp4', body: binary('The bytes.') });

/** The operation whose bytes pass as they come. */
export const videoTransfers = c.router({
  content: {
    method: 'GET',
    path: '/v1/videos/:video_id/content',
    summary: 'Download a video',
    description: 'The video, or a picture of it, or the part of these bytes that a `Range` of one part asks for.',
    headers: {
      ...headersA,
      range: z.string().optional().meta({
        description: 'One range of bytes: `bytes=0-1023`, `bytes=1024-`, `bytes=-1024`. Other ranges are answered with everything.',
      }),
    },
    pathParams: VideoPath,
    query: z.object({
      variant: z.enum(VIDEO_VARIANTS).default('video').meta({ description: '`video` (MP4), `thumbnail` or `spritesheet` (WebP).' }),
    }),
    responses: { 200: bytesOfVideo, 206: bytesOfVideo, 404: problem, 409: problem, 416: problem, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      alsoAs: ['image/webp'],
      tag: 'Videos',
      operationId: 'downloadVideo',
      errors: { also: ['storage_unavailable'] },
    } as const,
  },
});
