import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { readEvents } from './read.ts';
import { manageRegistrations } from './registrations.ts';
import { moveEvents } from './steps.ts';
import { takePart } from './take-part.ts';
import { writeEvents } from './write.ts';

/** Everything about events of the site, the Vibethon among them. */
export function eventCommands(events: Command, perform: Perform): void {
  readEvents(events, perform);
  takePart(events, perform);
  writeEvents(events, perform);
  moveEvents(events, perform);
  manageRegistrations(events, perform);
}
