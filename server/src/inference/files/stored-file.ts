import type { FILE_OUTPUT_PURPOSES, FILE_PURPOSES } from '@tallygate/contract';
import { newId } from '../../kernel/ids.ts';

export type FilePurpose = (typeof FILE_PURPOSES)[number];
/** Purposes of files that callers send, and of those that the service makes. */
export type StoredPurpose = FilePurpose | (typeof FILE_OUTPUT_PURPOSES)[number];

/** A file without its bytes. */
export interface StoredFile {
  /** `file-` and 32 hex digits that begin with the time. */
  readonly id: string;
  readonly purpose: StoredPurpose;
  readonly filename: string;
  /** As its uploader says. */
  readonly contentType: string;
  readonly bytes: number;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** What is said of a file when it is made. */
export interface NewFile {
  readonly purpose: StoredPurpose;
  readonly filename: string;
  readonly contentType: string;
  /** Undefined: as its purpose has it. */
  readonly lifetimeSeconds?: number | undefined;
}

/** What OpenAI's uploads are called whose client gave no name. */
export const UNNAMED = 'unknown_file';

const BATCH_LIFETIME_SECONDS = 30 * 86_400;

/** Input of batches goes after thirty days, as OpenAI’s does; everything else stays until it is deleted. */
export const defaultLifetimeSeconds = (purpose: StoredPurpose): number | null => (purpose === 'batch' ? BATCH_LIFETIME_SECONDS : null);

const newHexId = (): string => newId().replaceAll('-', '');
export const newFileId = (): string => `file-${newHexId()}`;
export const newUploadId = (): string => `upload_${newHexId()}`;
export const newPartId = (): string => `part_${newHexId()}`;

/** What is no id of ours is missing like any other; not all of it is text that the database would take. */
export const isFileId = (text: string): boolean => /^file-[0-9a-f]{32}$/.test(text);
export const isUploadId = (text: string): boolean => /^upload_[0-9a-f]{32}$/.test(text);
export const isPartId = (text: string): boolean => /^part_[0-9a-f]{32}$/.test(text);

/** A row of `files`, in these columns. */
export interface FileRow {
  readonly id: string;
  readonly purpose: StoredPurpose;
  readonly filename: string;
  readonly content_type: string;
  readonly bytes: bigint;
  readonly created_at: Date;
  readonly expires_at: Date | null;
}
export const FILE_COLUMNS = ['id', 'purpose', 'filename', 'content_type', 'bytes', 'created_at', 'expires_at'] as const;

export const fileOf = (row: FileRow): StoredFile => ({
  id: row.id,
  purpose: row.purpose,
  filename: row.filename,
  contentType: row.content_type,
  bytes: Number(row.bytes),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});
