import type { Command } from 'commander';
import type { Perform } from '../../command.ts';
import { createResponse } from './create.ts';
import { keptResponses } from './kept.ts';

export function responseCommands(responses: Command, perform: Perform): void {
  createResponse(responses, perform);
  keptResponses(responses, perform);
}
