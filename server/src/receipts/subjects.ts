import { hash } from 'node:crypto';
import type { ReceiptPayload } from '@tallygate/contract';
import { endUserHashInput, projectHashInput, tagHashInput } from '@tallygate/receipts';
import type { PackedReader, PackedWriter } from './packed-bytes.ts';

/** What a request is for, in the clear: the account knows these names, and a receipt has them as hashes salted with its nonce. */
export interface Named {
  readonly project_id?: string | null | undefined;
  readonly end_user?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
}
export type SubjectHashes = Pick<ReceiptPayload, 'project_hash' | 'end_user_hash' | 'tag_hashes'>;

const PROJECT = 1;
const END_USER = 2;
const TAGS = 4;

const sha256 = (input: string): string => hash('sha256', input, 'hex');

/** Of what is named; nothing is said of the rest. */
export const subjectHashes = (nonce: string, { project_id: project, end_user: endUser, tags }: Named): SubjectHashes => ({
  ...(isNamed(project) && { project_hash: sha256(projectHashInput(nonce, project)) }),
  ...(isNamed(endUser) && { end_user_hash: sha256(endUserHashInput(nonce, endUser)) }),
  ...(tags && tags.length > 0 && { tag_hashes: [...new Set(tags)].map((tag) => sha256(tagHashInput(nonce, tag))).sort() }),
});

export const isForSubjects = ({ project_id: project, end_user: endUser, tags }: Named): boolean =>
  isNamed(project) || isNamed(endUser) || (tags?.length ?? 0) > 0;

/** The names, of a receipt that has some. */
export function packSubjects(into: PackedWriter, { project_id: project, end_user: endUser, tags }: Named): void {
  const [hasProject, hasEndUser, hasTags] = [isNamed(project), isNamed(endUser), (tags?.length ?? 0) > 0];
  into.byte((hasProject ? PROJECT : 0) | (hasEndUser ? END_USER : 0) | (hasTags ? TAGS : 0));
  if (isNamed(project)) into.text(project);
  if (isNamed(endUser)) into.text(endUser);
  if (!hasTags || !tags) return;
  into.number(tags.length);
  for (const tag of tags) into.text(tag);
}

/** @throws RangeError where the bytes end too soon */
export function unpackSubjects(from: PackedReader): Named {
  const flags = from.byte();
  return {
    ...((flags & PROJECT) !== 0 && { project_id: from.text() }),
    ...((flags & END_USER) !== 0 && { end_user: from.text() }),
    ...((flags & TAGS) !== 0 && { tags: Array.from({ length: from.number() }, () => from.text()) }),
  };
}

const isNamed = (name: string | null | undefined): name is string => name !== null && name !== undefined;
