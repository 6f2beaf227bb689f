import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, isPlainText, LivemodeOfSession, NOT_PLAIN, problem, refusals, wholeNumber } from './conventions.ts';

const c = initContract();

/** What a caller may store files for. */
export const FILE_PURPOSES = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'] as const;
/** What the service itself stores files for. */
export const FILE_OUTPUT_PURPOSES = ['assistants_output', 'batch_output', 'fine-tune-results'] as const;

const Purpose = z.enum(FILE_PURPOSES).meta({ description: 'What the file is for.', examples: ['batch'] });
const UnixSeconds = z.int().meta({ description: 'Unix seconds.', examples: [1763712000] });
const binary = (description: string) =>
  z
    .string()
    .meta({ format: 'binary', description, examples: ['{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{}}\n'] });

/** From an hour to thirty days. */
const lifetime = (seconds: z.ZodType<number>) =>
  z
    .strictObject({
      anchor: z.literal('created_at').meta({ description: 'From when on.' }),
      seconds: seconds.meta({ description: 'For how long: 3,600 to 2,592,000 seconds.', examples: [86400] }),
    })
    .meta({ description: 'When the file deletes itself. Files for `batch` do so after thirty days unless this says otherwise.' });

/** The text fields of `POST /v1/files`, where all values are texts. */
export const CreateFileFields = z.strictObject({
  purpose: Purpose,
  expires_after: lifetime(wholeNumber(3_600, 2_592_000)).optional(),
});
export type CreateFileFields = z.infer<typeof CreateFileFields>;

const FILE_EXAMPLE = {
  id: 'file-019aa2f1c2d37b6e8c4d1f00aa55ee77',
  object: 'file',
  bytes: 120000,
  created_at: 1763712000,
  expires_at: 1766304000,
  filename: 'requests.jsonl',
  purpose: 'batch',
  status: 'processed',
};

export const FileObject = z
  .object({
    id: z.string().meta({ examples: ['file-019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('file'),
    bytes: z.int().meta({ examples: [120000] }),
    created_at: UnixSeconds,
    expires_at: z
      .int()
      .optional()
      .meta({ description: 'When the file deletes itself, unix seconds; absent when it does not.', examples: [1766304000] }),
    filename: z.string().meta({ description: 'The uploader’s name for it, without folders.', examples: ['requests.jsonl'] }),
    purpose: z.enum([...FILE_PURPOSES, ...FILE_OUTPUT_PURPOSES]).meta({ examples: ['batch'] }),
    status: z.enum(['uploaded', 'processed', 'error']).meta({ description: 'Files are `processed` as soon as they are stored.' }),
  })
  .meta({ id: 'FileObject', description: 'A stored file, in OpenAI’s shape.', examples: [FILE_EXAMPLE] });
export type FileObject = z.infer<typeof FileObject>;

export const FileList = z
  .object({
    object: z.literal('list'),
    data: z.array(FileObject),
    first_id: z.string().meta({ examples: ['file-019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    last_id: z
      .string()
      .meta({ description: 'The `after` of the next page; empty where the page is.', examples: ['file-019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    has_more: z.boolean(),
  })
  .meta({ id: 'FileList', description: 'A page of files.' });
export type FileList = z.infer<typeof FileList>;

export const FileDeleted = z
  .object({
    id: z.string().meta({ examples: ['file-019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('file'),
    deleted: z.literal(true),
  })
  .meta({ id: 'FileDeleted', description: 'The file is gone.' });
export type FileDeleted = z.infer<typeof FileDeleted>;

export const CreateUploadRequest = z
  .strictObject({
    bytes: z
      .int()
      .min(1)
      .max(8_589_934_592)
      .meta({ description: 'Size of the whole file. The parts have to add up to it.', examples: [1_000_000_000] }),
    filename: z
      .string()
      .min(1)
      .max(255)
      .refine(isPlainText, NOT_PLAIN)
      .meta({ description: 'Name of the file.', examples: ['requests.jsonl'] }),
    mime_type: z
      .string()
      .min(1)
      .max(255)
      .refine(isPlainText, NOT_PLAIN)
      .meta({ description: 'Media type of the file.', examples: ['application/jsonl'] }),
    purpose: Purpose,
    expires_after: lifetime(z.int().min(3_600).max(2_592_000)).optional(),
  })
  .meta({
    id: 'CreateUploadRequest',
    description: 'A file to be sent in parts.',
    examples: [{ bytes: 1_000_000_000, filename: 'requests.jsonl', mime_type: 'application/jsonl', purpose: 'batch' }],
  });
export type CreateUploadRequest = z.infer<typeof CreateUploadRequest>;

export const Upload = z
  .object({
    id: z.string().meta({ examples: ['upload_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('upload'),
    bytes: z.int().meta({ description: 'Size of the whole file.', examples: [1_000_000_000] }),
    created_at: UnixSeconds,
    expires_at: z.int().meta({ description: 'Until when it has to be completed: an hour after it was made.', examples: [1763715600] }),
    filename: z.string().meta({ examples: ['requests.jsonl'] }),
    purpose: Purpose,
    status: z.enum(['pending', 'completed', 'cancelled', 'expired']),
    file: FileObject.nullable().meta({ description: 'The file that a completed upload has become.' }),
  })
  .meta({ id: 'Upload', description: 'A file that is sent in parts.' });
export type Upload = z.infer<typeof Upload>;

export const UploadPart = z
  .object({
    id: z.string().meta({ examples: ['part_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    object: z.literal('upload.part'),
    created_at: UnixSeconds,
    upload_id: z.string().meta({ examples: ['upload_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
  })
  .meta({ id: 'UploadPart', description: 'A part of an upload.' });
export type UploadPart = z.infer<typeof UploadPart>;

export const CompleteUploadRequest = z
  .strictObject({
    part_ids: z
      .array(z.string().min(1).max(128))
      .min(1)
      .max(10_000)
      .meta({ description: 'The parts of the file, in its order.', examples: [['part_019aa2f1c2d37b6e8c4d1f00aa55ee77']] }),
    md5: z
      .string()
      .regex(/^[0-9a-f]{32}$/i, 'must be 32 hex digits')
      .optional()
      .meta({ description: 'MD5 of the whole file, in hex, to be checked.', examples: ['9e107d9d372bb6826bd81d3542a419d6'] }),
  })
  .meta({ id: 'CompleteUploadRequest', description: 'Which parts make the file, in which order.' });
export type CompleteUploadRequest = z.infer<typeof CompleteUploadRequest>;

const FilePath = z.object({ file_id: z.string().min(1).max(128).meta({ description: 'The file’s id.' }) });
const UploadPath = z.object({ upload_id: z.string().min(1).max(128).meta({ description: 'The upload’s id.' }) });
const bytesOfFile = c.otherResponse({ contentType: 'application/octet-stream', body: binary('The bytes of the file.') });

export const files = c.router({
  list: {
    method: 'GET',
    path: '/v1/files',
    summary: 'List files',
    description: 'The account’s files, newest first: with a key those of its mode.',
    headers: headersA,
    query: z.object({
      after: z.string().max(128).refine(isPlainText, NOT_PLAIN).optional().meta({ description: 'The last id of the page before.' }),
      limit: wholeNumber(1, 10_000).default(10_000).meta({ description: 'How many.' }),
      order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'Oldest or newest first.' }),
      purpose: z.string().max(64).refine(isPlainText, NOT_PLAIN).optional().meta({ description: 'Only files for this.' }),
      livemode: LivemodeOfSession,
    }),
    responses: { 200: FileList, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Files', operationId: 'listFiles', sdk: 'files.list', tool: 'read' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/files/:file_id',
    summary: 'Get a file',
    description: 'What is known of a file; its bytes are under `/content`.',
    headers: headersA,
    pathParams: FilePath,
    responses: { 200: FileObject, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Files', operationId: 'getFile', sdk: 'files.get', tool: 'read' } as const,
  },
  delete: {
    method: 'DELETE',
    path: '/v1/files/:file_id',
    summary: 'Delete a file',
    description: 'The file and its bytes are deleted permanently, and its storage is free again.',
    headers: headersA,
    pathParams: FilePath,
    responses: { 200: FileDeleted, 404: problem, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Files',
      operationId: 'deleteFile',
      sdk: 'files.delete',
      tool: 'destroy',
    } as const,
  },
});

export const uploads = c.router({
  create: {
    method: 'POST',
    path: '/v1/uploads',
    summary: 'Begin an upload in parts',
    description: 'For files of more than 512 MiB, up to 8 GiB, or for sending parts side by side. It has to be completed within an hour.',
    headers: { ...headersA, ...idempotencyHeader },
    body: CreateUploadRequest,
    responses: { 200: Upload, 409: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      stores: true,
      tag: 'Files',
      operationId: 'createUpload',
      sdk: 'uploads.create',
      errors: { never: ['conflict'] },
    } as const,
  },
  complete: {
    method: 'POST',
    path: '/v1/uploads/:upload_id/complete',
    summary: 'Complete an upload',
    description:
      'The parts, in the order of `part_ids`, become one file; parts that are not named are deleted. Completing it again with the same parts answers the same.',
    headers: headersA,
    pathParams: UploadPath,
    body: CompleteUploadRequest,
    responses: { 200: Upload, 404: problem, 409: problem, ...refusals.write },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Files', operationId: 'completeUpload', sdk: 'uploads.complete' } as const,
  },
  cancel: {
    method: 'POST',
    path: '/v1/uploads/:upload_id/cancel',
    summary: 'Cancel an upload',
    description: 'Its parts are deleted, and no part can be added any more. Cancelling it again changes nothing.',
    headers: headersA,
    pathParams: UploadPath,
    body: c.noBody(),
    responses: { 200: Upload, 404: problem, 409: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'inference', tag: 'Files', operationId: 'cancelUpload', sdk: 'uploads.cancel' } as const,
  },
});

/** The operations whose bytes pass as they come, in one direction or the other. */
export const fileTransfers = c.router({
  create: {
    method: 'POST',
    path: '/v1/files',
    summary: 'Upload a file',
    description: 'At most 512 MiB; larger files go in parts (`POST /v1/uploads`). The file is `processed` when this answers.',
    headers: { ...headersA, ...idempotencyHeader },
    contentType: 'multipart/form-data',
    body: CreateFileFields.extend({ file: binary('The file.') }),
    responses: { 200: FileObject, 409: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      stores: true,
      tag: 'Files',
      operationId: 'createFile',
      tool: 'write',
      errors: { never: ['conflict'] },
    } as const,
  },
  addPart: {
    method: 'POST',
    path: '/v1/uploads/:upload_id/parts',
    summary: 'Add a part to an upload',
    description: 'At most 64 MiB. Parts may be sent in any order and side by side; completing the upload puts them in order.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: UploadPath,
    contentType: 'multipart/form-data',
    body: z.strictObject({ data: binary('The part.') }),
    responses: { 200: UploadPart, 404: problem, 409: problem, ...refusals.write },
    metadata: { auth: 'bearer', scope: 'inference', stores: true, tag: 'Files', operationId: 'addUploadPart' } as const,
  },
  content: {
    method: 'GET',
    path: '/v1/files/:file_id/content',
    summary: 'Download a file',
    description: 'The bytes of the file, or the part of them that a `Range` of one part asks for.',
    headers: {
      ...headersA,
      range: z.string().optional().meta({
        description: 'One range of bytes: `bytes=0-1023`, `bytes=1024-`, `bytes=-1024`. Other ranges are answered with the whole file.',
      }),
    },
    pathParams: FilePath,
    responses: { 200: bytesOfFile, 206: bytesOfFile, 404: problem, 416: problem, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'inference',
      tag: 'Files',
      operationId: 'downloadFile',
      sdk: 'files.content',
      tool: 'read',
      errors: { also: ['storage_unavailable'] },
    } as const,
  },
});
