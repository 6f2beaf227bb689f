import type { MarketingInviteBatchResponse, MarketingInviteRecord } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingInviteBatchResponseFields } from '../generated/fields.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';
import { giftText } from './show-batch.ts';

const BATCHES: readonly Column<MarketingInviteBatchResponse>[] = [
  { title: 'id', of: ({ batch_id }) => batch_id },
  { title: 'name', of: ({ name }) => name },
  { title: 'status', of: ({ status }) => status },
  { title: 'sent', of: ({ counts }) => `${counts.sent}/${counts.total}`, align: 'right' },
  { title: 'activations', of: ({ counts }) => counts.activations, align: 'right', isSpare: true },
  { title: 'gives', of: giftText, isSpare: true },
  { title: 'open until', of: ({ expires_at }) => expires_at },
];

const INVITES: readonly Column<MarketingInviteRecord>[] = [
  { title: 'id', of: ({ invite_id }) => invite_id },
  { title: 'to', of: ({ email }) => email },
  { title: 'status', of: ({ status }) => status },
  { title: 'uses', of: ({ uses, max_uses }) => `${uses}/${max_uses}`, align: 'right' },
  { title: 'sent', of: ({ sent_at }) => sent_at },
  { title: 'failure', of: ({ failure }) => failure },
];

export const listInvites = (invites: Command, perform: Perform): Command =>
  withJson(
    [...MarketingInviteBatchResponseFields, 'invite_id', 'email', 'max_uses', 'uses', 'failure', 'sent_at'],
    withPages(
      invites
        .command('list')
        .description('List batches with their progress, or the invitations of one; for administrators')
        .argument('[batch]', 'the id of a batch'),
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { args: [batchId], options }: Typed<PageOptions>): Promise<void> {
  const { invites } = await world.connect();
  const { signal } = world;
  if (batchId === undefined)
    return printPages(world, options, { columns: BATCHES, list: (limit) => invites.listBatches({ limit }, { signal }) });
  return printPages(world, options, { columns: INVITES, list: (limit) => invites.list(batchId, { limit }, { signal }) });
}
