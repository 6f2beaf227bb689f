import { randomBytes } from 'node:crypto';
import { newId } from '../../kernel/ids.ts';
import type { ContentKeys } from '../stored-content/index.ts';

/** Below it are the blobs that rows of `file_blobs` refer to, and orphans. */
export const FILES_PREFIX = 'files';
/** Below it are files of requests under way; no row ever refers to one, so what is old is left over. */
export const PASSING_PREFIX = 'passing';

/** Where a file's bytes go: below its account, under a UUIDv7. */
export const newFileBlobKey = (accountId: string): string => `${FILES_PREFIX}/${accountId}/${newId()}`;

/** Where the files of a request go that nobody keeps: images to edit, audio to transcribe. The caller deletes them when the request ends. */
export const newPassingBlobKey = (): string => `${PASSING_PREFIX}/${newId()}`;

/**
 * What blobs are sealed with: the content key of their account, which is in their keys. What passes is needed by this process alone, and is read
 * by nobody once it has ended.
 */
export function blobSealingKeys(content: Pick<ContentKeys, 'keyOf'>): (blobKey: string) => Buffer | Promise<Buffer> {
  const passing = randomBytes(32);
  return (blobKey) => {
    const [prefix, accountId = ''] = blobKey.split('/');
    return prefix === PASSING_PREFIX ? passing : content.keyOf(accountId);
  };
}

const UUID_V7 = /\/([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** When a key was made, by its UUIDv7, unix milliseconds; undefined for keys that are not ours. */
export function blobKeyTime(key: string): number | undefined {
  const [, high, low] = UUID_V7.exec(key) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}
