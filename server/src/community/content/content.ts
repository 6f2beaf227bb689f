import { isDeepStrictEqual } from 'node:util';
import type { ContentQuery, ContentType, MarketingContentCreateRequest, MarketingContentUpdateRequest } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Keyset, type Page } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, ifGiven, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { edited, type Piece, published, unpublished } from './piece.ts';
import { tables } from './tables.ts';

/** Who asks for a change, and from where. */
export interface Author {
  readonly principal: Principal;
  readonly origin: Origin;
}

const CHANGED = new Keyset({ name: 'content', columns: { updated_at: 'time', content_id: 'uuid' }, direction: 'desc' });
const PUBLISHED = new Keyset({ name: 'published', columns: { first_published_at: 'time', content_id: 'uuid' }, direction: 'desc' });

/** Texts of the team. Every change is in the audit log. */
export interface Content {
  /** What was changed last first. */
  list(query: ContentQuery): Promise<Page<Piece>>;
  /** @throws Problem `not_found` */
  get(contentId: string): Promise<Piece>;
  /** @throws Problem `conflict` for a slug that is taken */
  create(author: Author, input: MarketingContentCreateRequest): Promise<Piece>;
  /** @throws Problem `not_found`; `conflict` for another version, or a slug that is taken or cannot change any more */
  update(author: Author, contentId: string, input: MarketingContentUpdateRequest): Promise<Piece>;
  /** @throws Problem `not_found`; `conflict` for what is published */
  publish(author: Author, contentId: string): Promise<Piece>;
  /** @throws Problem `not_found`; `conflict` for a draft */
  unpublish(author: Author, contentId: string): Promise<Piece>;
  /** For everybody: what was published last first. */
  listPublished(query: ContentQuery): Promise<Page<Piece>>;
  /** For everybody. @throws Problem `not_found`, also for a draft */
  getPublished(slug: string): Promise<Piece>;
}

const ALL = tables.selectFrom('content');
const IN_PUBLIC = ALL.where('status', '=', 'published');

export function createContent({ pool, clock }: { pool: Pool; clock: Clock }): Content {
  const find = async (list: Keyset, among: typeof ALL, { type, ...query }: ContentQuery): Promise<Page<Piece>> => {
    const filtered = among.selectAll().where((eb) => ifGiven(type, (wanted) => eb('type', '=', sql<ContentType>`${wanted}`)));
    return list.page(await rowsOf(pool, list.pageIn(filtered, query)), query);
  };

  /** Locked against concurrent changes, so that of two changes from one version the second is refused. */
  const change = (
    { principal, origin }: Author,
    contentId: string,
    { action, effect }: { action: `content.${string}`; effect: (piece: Piece, now: Date) => Piece },
  ): Promise<Piece> =>
    inTransaction(pool, async (client) => {
      const before = await firstOf(client, ALL.selectAll().where('content_id', '=', contentId).forUpdate());
      if (!before) throw missing();
      const now = new Date(clock.now());
      const effected = effect(before, now);
      const changes = changesOf(before, effected);
      // What changes nothing is no new version.
      if (Object.keys(changes).length === 0) return before;
      const after = { ...effected, version: before.version + 1, updated_by: principal.userId, updated_at: now };
      await refusingTakenSlug(after.slug, () => run(client, tables.updateTable('content').set(after).where('content_id', '=', contentId)));
      await recordAudit(client, {
        ...{ accountId: principal.accountId, actor: actorOf(principal), action, origin, changes },
        target: { kind: 'content', id: contentId },
      });
      return after;
    });

  return {
    list: (query) => find(CHANGED, ALL, query),

    async get(contentId) {
      return (await firstOf(pool, ALL.selectAll().where('content_id', '=', contentId))) ?? refuse();
    },

    create: ({ principal, origin }, { summary, ...input }) =>
      inTransaction(pool, async (client) => {
        const piece = draftOf({ ...input, summary: summary ?? null }, principal.userId, new Date(clock.now()));
        await refusingTakenSlug(piece.slug, () => run(client, tables.insertInto('content').values(piece)));
        await recordAudit(client, {
          ...{ accountId: principal.accountId, actor: actorOf(principal), action: 'content.created', origin },
          target: { kind: 'content', id: piece.content_id },
          changes: { type: piece.type, slug: piece.slug },
        });
        return piece;
      }),

    update: (author, contentId, input) => change(author, contentId, { action: 'content.updated', effect: (piece) => edited(piece, input) }),
    publish: (author, contentId) => change(author, contentId, { action: 'content.published', effect: published }),
    unpublish: (author, contentId) => change(author, contentId, { action: 'content.unpublished', effect: unpublished }),

    listPublished: (query) => find(PUBLISHED, IN_PUBLIC, query),

    async getPublished(slug) {
      return (await firstOf(pool, IN_PUBLIC.selectAll().where('slug', '=', slug))) ?? refuse();
    },
  };
}

const draftOf = (
  words: Pick<Piece, 'type' | 'slug' | 'title' | 'summary' | 'body' | 'tags'>,
  userId: Piece['created_by'],
  now: Date,
): Piece => ({
  ...{ content_id: newId(), ...words, status: 'draft', version: 1 },
  ...{ created_by: userId, updated_by: userId, created_at: now, updated_at: now },
  ...{ first_published_at: null, published_at: null },
});

const COLUMNS = [
  ...['content_id', 'type', 'slug', 'title', 'summary', 'body', 'tags', 'status', 'version'],
  ...['created_by', 'updated_by', 'created_at', 'updated_at', 'first_published_at', 'published_at'],
] as readonly (keyof Piece)[];
/** Of texts it says that they changed and not how: the audit log is no place to keep them twice. */
function changesOf(before: Piece, after: Piece): Record<string, unknown> {
  const changed = COLUMNS.filter((column) => !isDeepStrictEqual(before[column], after[column]));
  return Object.fromEntries(
    changed.map((column) =>
      column === 'body' ? [column, { characters: after.body.length }] : [column, { from: before[column], to: after[column] }],
    ),
  );
}

async function refusingTakenSlug(slug: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (failure) {
    if (!(failure instanceof Error && 'constraint' in failure && failure.constraint === 'content_slug_key')) throw failure;
    throw new Problem('conflict', `There is content with the slug ${slug} already: choose another one.`, { param: 'slug' });
  }
}

const missing = (): Problem => new Problem('not_found', 'There is no such content.');
const refuse = (): never => {
  throw missing();
};
