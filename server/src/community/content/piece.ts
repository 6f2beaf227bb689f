import type { ContentType, MarketingContentUpdateRequest } from '@tallygate/contract';
import { Problem } from '../../kernel/problem.ts';

/** A row of `content`. */
export interface Piece {
  readonly content_id: string;
  readonly type: ContentType;
  readonly slug: string;
  readonly title: string;
  readonly summary: string | null;
  readonly body: string;
  readonly tags: string[];
  readonly status: 'draft' | 'published';
  readonly version: number;
  readonly created_by: string | null;
  readonly updated_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** From then on its address is known to others: the slug stays. */
  readonly first_published_at: Date | null;
  readonly published_at: Date | null;
}

/** @throws Problem `conflict` when it was changed since, or when an address that others may know would change */
export function edited(piece: Piece, { version, ...changes }: MarketingContentUpdateRequest): Piece {
  if (version !== piece.version)
    throw new Problem('conflict', `It is at version ${piece.version} by now, not ${version}: read it again and make the change there.`, {
      param: 'version',
    });
  const { slug = piece.slug } = changes;
  if (slug !== piece.slug && piece.first_published_at !== null)
    throw new Problem('conflict', 'It was published under its slug, and others may link to it: the slug stays.', { param: 'slug' });
  return {
    ...piece,
    slug,
    type: changes.type ?? piece.type,
    title: changes.title ?? piece.title,
    summary: changes.summary === undefined ? piece.summary : changes.summary,
    body: changes.body ?? piece.body,
    tags: changes.tags ?? piece.tags,
  };
}

/** @throws Problem `conflict` for what is published */
export function published(piece: Piece, now: Date): Piece {
  if (piece.status === 'published') throw new Problem('conflict', 'It is published already.');
  return { ...piece, status: 'published', published_at: now, first_published_at: piece.first_published_at ?? now };
}

/** @throws Problem `conflict` for a draft */
export function unpublished(piece: Piece): Piece {
  if (piece.status === 'draft') throw new Problem('conflict', 'It is a draft: there is nothing to take back.');
  return { ...piece, status: 'draft', published_at: null };
}
