import type { contract, FileObject, Upload, UploadPart } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import { bareFilename } from '../../kernel/filename.ts';
import type { Files } from './files.ts';
import { listerOf, ownerOf, readerOf } from './owner.ts';
import { type StoredFile, UNNAMED } from './stored-file.ts';
import type { StoredPart, StoredUpload, Uploads } from './uploads.ts';

export const fileRoutes = (files: Files): Handlers<typeof contract.files> => ({
  list: async ({ principal, query: { livemode, ...wanted } }) => {
    const page = await files.list(listerOf(principal, livemode), wanted);
    const data = page.files.map(fileToWire);
    const ends = { first_id: data.at(0)?.id ?? '', last_id: data.at(-1)?.id ?? '' };
    return { status: 200, body: { object: 'list', data, ...ends, has_more: page.hasMore } };
  },
  get: async ({ principal, params }) => ({ status: 200, body: fileToWire(await files.get(readerOf(principal), params.file_id)) }),
  delete: async ({ principal, params }) => {
    await files.delete(readerOf(principal), params.file_id);
    return { status: 200, body: { id: params.file_id, object: 'file', deleted: true } };
  },
});

export const uploadRoutes = (uploads: Uploads): Handlers<typeof contract.uploads> => ({
  create: async ({ principal, body: { bytes, filename, mime_type: contentType, purpose, expires_after } }) => {
    const named = { filename: bareFilename(filename) ?? UNNAMED, contentType, purpose, bytes };
    const upload = await uploads.create(ownerOf(principal), { ...named, lifetimeSeconds: expires_after?.seconds });
    return { status: 200, body: uploadToWire(upload) };
  },
  complete: async ({ principal, params, body: { part_ids: partIds, md5 } }) => ({
    status: 200,
    body: uploadToWire(await uploads.complete(ownerOf(principal), params.upload_id, { partIds, md5 })),
  }),
  cancel: async ({ principal, params }) => ({
    status: 200,
    body: uploadToWire(await uploads.cancel(ownerOf(principal), params.upload_id)),
  }),
});

const unixSeconds = (at: Date): number => Math.floor(at.getTime() / 1000);

export const fileToWire = ({ id, bytes, createdAt, expiresAt, filename, purpose }: StoredFile): FileObject => ({
  id,
  object: 'file',
  bytes,
  created_at: unixSeconds(createdAt),
  ...(expiresAt && { expires_at: unixSeconds(expiresAt) }),
  filename,
  purpose,
  status: 'processed',
});

const uploadToWire = ({ id, bytes, createdAt, expiresAt, filename, purpose, status, file }: StoredUpload): Upload => ({
  id,
  object: 'upload',
  bytes,
  created_at: unixSeconds(createdAt),
  expires_at: unixSeconds(expiresAt),
  filename,
  purpose,
  status,
  file: file && fileToWire(file),
});

export const partToWire = ({ id, uploadId, createdAt }: StoredPart): UploadPart => ({
  id,
  object: 'upload.part',
  created_at: unixSeconds(createdAt),
  upload_id: uploadId,
});
