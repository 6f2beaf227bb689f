import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { personActions } from './actions.ts';
import { getPerson } from './get.ts';
import { listPeople } from './list.ts';
import { exportPeople, importPeople } from './transfer.ts';

export function peopleCommands(people: Command, perform: Perform): void {
  listPeople(people, perform);
  getPerson(people, perform);
  personActions(people, perform);
  importPeople(people, perform);
  exportPeople(people, perform);
}
