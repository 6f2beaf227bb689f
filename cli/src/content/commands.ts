import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { createContent } from './create.ts';
import { getContent } from './get.ts';
import { listContent } from './list.ts';
import { publishContent } from './publish.ts';
import { updateContent } from './update.ts';

export function contentCommands(content: Command, perform: Perform): void {
  listContent(content, perform);
  getContent(content, perform);
  createContent(content, perform);
  updateContent(content, perform);
  publishContent(content, perform);
}
