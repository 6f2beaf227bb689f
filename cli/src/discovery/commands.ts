import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { getDocument, showDiscovery } from './discover.ts';

export function discoveryCommands(discovery: Command, perform: Perform): void {
  showDiscovery(discovery, perform);
  getDocument(discovery, perform);
}
