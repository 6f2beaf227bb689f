import { Argument, type Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { keptPricesPath, readLogins } from '../credentials.ts';
import { candidatesFor, type KnownValues } from './candidates.ts';
import { SCRIPTS, SHELLS, type Shell } from './scripts.ts';

export const completion = (command: Command, perform: Perform): Command =>
  command
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action(perform(async ({ out }: CommandWorld, { args: [shell] }: Typed<object>) => out.write(SCRIPTS[shell as Shell])));

/** What the scripts call; of no use to people. */
export const complete = (command: Command, perform: Perform): Command =>
  command.argument('[words...]').action(
    perform(async (world: CommandWorld, { args }: Typed<object>) => {
      const candidates = await candidatesFor(command.parent ?? command, args, knownValues(world));
      for (const { word, about } of candidates) world.out.write(`${word}\t${about.replaceAll(/\s+/g, ' ')}\n`);
    }),
  );

const knownValues = (world: CommandWorld): KnownValues => ({
  models: () => keptModels(world),
  profiles: async () => Object.keys(await readLogins(world)),
});

/** The models whose prices were stored at the last login. */
export async function keptModels(world: Pick<CommandWorld, 'env' | 'readFile' | 'profile'>): Promise<string[]> {
  const text = await world.readFile(keptPricesPath(world, world.profile));
  if (text === undefined) return [];
  try {
    const { prices }: { prices?: object } = JSON.parse(text);
    return Object.keys(prices ?? {});
  } catch {
    // A broken file is for `receipts verify` to complain of.
    return [];
  }
}
