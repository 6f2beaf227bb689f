import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { listRequests } from './list.ts';
import { sendRequest } from './send.ts';
import { updateRequest } from './update.ts';

export function requestCommands(requests: Command, perform: Perform): void {
  listRequests(requests, perform);
  updateRequest(requests, perform);
  sendRequest(requests, perform);
}
