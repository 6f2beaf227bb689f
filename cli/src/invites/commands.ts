import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { activateInvite } from './activate.ts';
import { listInvites } from './list.ts';
import { revokeInvites } from './revoke.ts';
import { sendInvites } from './send.ts';

export function inviteCommands(invites: Command, perform: Perform): void {
  sendInvites(invites, perform);
  listInvites(invites, perform);
  revokeInvites(invites, perform);
  activateInvite(invites, perform);
}
