import type { CommandWorld } from '../command.ts';
import { plainText, printRecord } from '../print.ts';

/**
 * Prints the plain key once: alone on stdout, so that `KEY=$(tallygate keys create …)` takes it and nothing else, with the remark on
 * stderr. With `--json`, where the fields are chosen by the caller, it is in the JSON or not at all.
 */
export function showSecret(world: CommandWorld, created: { readonly key: string }, remark: string): void {
  if (created.key === '') {
    if (world.jsonFields !== undefined) printRecord(world, created, []);
    world.err.write('The API key was there already; its secret is not shown again. `tallygate keys rotate` replaces it.\n');
    return;
  }
  if (world.jsonFields === undefined) world.out.write(`${created.key}\n`);
  else printRecord(world, created, []);
  const isShown = world.jsonFields?.includes('key') ?? true;
  world.err.write(
    plainText(`${remark} ${isShown ? 'Store the key now: it is not shown again.' : 'Its secret was not asked for and is lost.'}\n`),
  );
}
