import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { type Column, printRecord } from '../print.ts';
import { fetchCheckpoint } from './kept-state.ts';
import { type WitnessOptions, withWitnesses } from './witnesses.ts';

interface Shown {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  readonly signers: readonly string[];
  readonly note: string;
}

const LINES: readonly Column<Shown>[] = [
  { title: 'Log', of: ({ origin }) => origin },
  { title: 'Entries', of: ({ size }) => size },
  { title: 'Root', of: ({ root }) => root },
  { title: 'Signed by', of: ({ signers }) => signers.join(', ') },
];

export const logCheckpoint = (log: Command, perform: Perform): Command =>
  withJson(
    ['origin', 'size', 'root', 'signers', 'note'],
    withWitnesses(log.command('checkpoint').description('The newest state of the log of receipts, its signature checked; needs no login')),
  ).action(perform(show));

async function show(world: CommandWorld, { options }: Typed<WitnessOptions>): Promise<void> {
  const { root, ...checkpoint } = await fetchCheckpoint(world, options);
  printRecord<Shown>(world, { ...checkpoint, root: Buffer.from(root).toString('hex') }, LINES);
}
