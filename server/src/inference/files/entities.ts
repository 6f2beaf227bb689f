import { defineEntity, p } from '@mikro-orm/core';
import type { FilePurpose, StoredPurpose } from './stored-file.ts';

export const FileBlob = defineEntity({
  name: 'FileBlob',
  tableName: 'file_blobs',
  properties: {
    key: p.text().primary(),
    accountId: p.uuid(),
    bytes: p.bigint('bigint'),
    fileId: p.text().nullable(),
    position: p.integer().nullable(),
    uploadId: p.text().nullable(),
    partId: p.text().nullable(),
    createdAt: p.datetime(),
  },
});

export const FileStorage = defineEntity({
  name: 'FileStorage',
  tableName: 'file_storage',
  properties: {
    accountId: p.uuid().primary(),
    bytes: p.bigint('bigint'),
  },
});

export const StoredFile = defineEntity({
  name: 'StoredFile',
  tableName: 'files',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid(),
    livemode: p.boolean(),
    purpose: p.text().$type<StoredPurpose>(),
    filename: p.text(),
    contentType: p.text(),
    bytes: p.bigint('bigint'),
    createdAt: p.datetime(),
    expiresAt: p.datetime().nullable(),
  },
});

export const Upload = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  properties: {
    id: p.text().primary(),
    accountId: p.uuid(),
    livemode: p.boolean(),
    purpose: p.text().$type<FilePurpose>(),
    filename: p.text(),
    contentType: p.text(),
    bytes: p.bigint('bigint'),
    lifetimeSeconds: p.integer().nullable(),
    status: p.enum(['pending', 'completed', 'cancelled', 'expired']),
    fileId: p.text().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});
