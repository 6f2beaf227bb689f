import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { MarketingPeopleImportResponseFields } from '../generated/fields.ts';
import { openGiven } from '../given-file.ts';
import { printRecord } from '../print.ts';
import { type FilterOptions, filterOf, withFilter } from './filter-options.ts';

interface ExportOptions extends FilterOptions {
  readonly output?: string;
  readonly person?: string;
}

export const exportPeople = (people: Command, perform: Perform): Command =>
  withFilter(people.command('export').description('People as CSV, or all data of one person as JSON'))
    .option('--person <person-id>', 'all data of this person')
    .option('-o, --output <file>', 'write to a file instead of stdout')
    .action(perform(exportTo));

async function exportTo(world: CommandWorld, { options }: Typed<ExportOptions>): Promise<void> {
  const { output, person } = options;
  const client = await world.connect();
  const call = { signal: world.signal };
  if (person === undefined) {
    const { body } = await client.people.exportAll(filterOf(options), call);
    await world.saveBytes(output ?? '-', body ?? pieces(''));
  } else await world.saveBytes(output ?? '-', pieces(`${JSON.stringify(await client.people.exportOne(person, call), null, 2)}\n`));
  if (output !== undefined && output !== '-') world.err.write(`Wrote ${output}.\n`);
}

async function* pieces(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield new TextEncoder().encode(text);
}

export const importPeople = (people: Command, perform: Perform): Command =>
  withJson(
    MarketingPeopleImportResponseFields,
    people
      .command('import')
      .description('Import people from a CSV file: email, and any of name, company, client_type, tags, event_slug')
      .argument('<file>'),
  ).action(perform(importFrom));

async function importFrom(world: CommandWorld, { args: [path = ''] }: Typed<object>): Promise<ExitCode> {
  const file = await openGiven(world, path);
  const client = await world.connect();
  const result = await client.people.importAll(file, { signal: world.signal });
  printRecord(world, result, [
    { title: 'rows', of: ({ rows }) => String(rows) },
    { title: 'created', of: ({ created }) => String(created) },
    { title: 'updated', of: ({ updated }) => String(updated) },
    { title: 'skipped', of: ({ skipped }) => String(skipped) },
    { title: 'failed', of: ({ failed }) => String(failed) },
  ]);
  for (const { line, message } of result.errors) world.err.write(`${path}:${line}: ${message}\n`);
  return result.failed > 0 ? EXIT.failure : EXIT.ok;
}
