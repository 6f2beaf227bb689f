import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { deployAnchor } from './deploy.ts';
import { listAnchors } from './list.ts';
import { timestampCommand } from './timestamp.ts';
import { verifyAnchors } from './verify.ts';

export function anchorCommands(anchors: Command, perform: Perform): void {
  listAnchors(anchors, perform);
  verifyAnchors(anchors, perform);
  timestampCommand(anchors, perform);
  deployAnchor(anchors, perform);
}
