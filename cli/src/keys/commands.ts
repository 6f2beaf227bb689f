import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { createKey } from './create.ts';
import { getKey } from './get.ts';
import { listKeys } from './list.ts';
import { revokeKey } from './revoke.ts';
import { rotateKey } from './rotate.ts';
import { updateKey } from './update.ts';

export function keyCommands(keys: Command, perform: Perform): void {
  createKey(keys, perform);
  listKeys(keys, perform);
  getKey(keys, perform);
  updateKey(keys, perform);
  rotateKey(keys, perform);
  revokeKey(keys, perform);
}
