import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { discoverModels } from './discover.ts';
import { models } from './models.ts';
import { setPrice } from './price.ts';
import { removeModel } from './remove.ts';
import { setModel } from './set.ts';

export function modelCommands(command: Command, perform: Perform): void {
  models(command, perform);
  setModel(command, perform);
  setPrice(command, perform);
  removeModel(command, perform);
  discoverModels(command, perform);
}
