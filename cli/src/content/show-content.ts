import type { MarketingContentRecord } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { type Column, printRecord } from '../print.ts';

const LINES: readonly Column<MarketingContentRecord>[] = [
  { title: 'id', of: ({ content_id }) => content_id },
  { title: 'type', of: ({ type }) => type },
  { title: 'slug', of: ({ slug }) => slug },
  { title: 'title', of: ({ title }) => title },
  { title: 'status', of: ({ status }) => status },
  { title: 'version', of: ({ version }) => version },
  { title: 'tags', of: ({ tags }) => tags.join(', ') || null },
  { title: 'changed', of: ({ updated_at }) => updated_at },
  { title: 'published', of: ({ published_at }) => published_at },
];

/** All but the text; `content get --body` prints that. */
export const showContent = (world: CommandWorld, piece: MarketingContentRecord): void => printRecord(world, piece, LINES);
