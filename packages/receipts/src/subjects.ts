import { accountHash, endUserHash, projectHash, tagHash } from './digest.ts';
import type { ReceiptPayload } from './receipt.ts';

/** Whose a receipt is and whom it is for, as a reader names them. What is left out is not compared. */
export interface Subjects {
  readonly accountId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly endUser?: string | undefined;
  /** The receipt has each of them; it may have more. */
  readonly tags?: readonly string[] | undefined;
}

/** The first of the subjects that the receipt is not of, in words; undefined where it is of all of them. */
export function foreignSubject(payload: ReceiptPayload, { accountId, projectId, endUser, tags = [] }: Subjects): string | undefined {
  const { nonce, account_hash, project_hash, end_user_hash, tag_hashes = [] } = payload;
  if (accountId !== undefined && accountHash(nonce, accountId) !== account_hash) return 'of another account';
  if (projectId !== undefined && projectHash(nonce, projectId) !== project_hash) return 'not of that project';
  if (endUser !== undefined && endUserHash(nonce, endUser) !== end_user_hash) return 'not for that end user';
  const missing = tags.find((tag) => !tag_hashes.includes(tagHash(nonce, tag)));
  return missing === undefined ? undefined : `without the tag ${missing}`;
}
