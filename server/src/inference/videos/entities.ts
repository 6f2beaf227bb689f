import { defineEntity, p } from '@mikro-orm/core';
import type { VideoError } from './stored-video.ts';

export const VideoCharacter = defineEntity({
  name: 'VideoCharacter',
  tableName: 'video_characters',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid(),
    livemode: p.boolean(),
    deployment: p.text(),
    upstreamId: p.text(),
    name: p.json<string>().columnType('json'),
    createdAt: p.datetime(),
  },
});

export const VideoContent = defineEntity({
  name: 'VideoContent',
  tableName: 'video_contents',
  properties: {
    videoId: p.text().primary(),
    variant: p.enum(['video', 'thumbnail', 'spritesheet']).primary(),
    key: p.text(),
    bytes: p.bigint('bigint'),
    contentType: p.text(),
  },
});

export const Video = defineEntity({
  name: 'Video',
  tableName: 'videos',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid(),
    livemode: p.boolean(),
    requestId: p.text(),
    receiptId: p.uuid(),
    deployment: p.text(),
    provider: p.text(),
    jobId: p.text(),
    model: p.text(),
    seconds: p.integer(),
    size: p.text(),
    prompt: p.json<string>().columnType('json'),
    remixedFrom: p.text().nullable(),
    status: p.enum(['queued', 'in_progress', 'completed', 'failed']),
    progress: p.float().defaultRaw('0'),
    error: p.json<VideoError>().columnType('json').nullable(),
    createdAt: p.datetime(),
    completedAt: p.datetime().nullable(),
    expiresAt: p.datetime().nullable(),
    deletedAt: p.datetime().nullable(),
    refund: p.enum(['none', 'due', 'made', 'not_charged']).defaultRaw("'none'"),
    refundReceiptId: p.uuid().nullable(),
    lookedAt: p.datetime(),
    looks: p.integer().defaultRaw('0'),
    nextStepAt: p.datetime().nullable(),
  },
});
