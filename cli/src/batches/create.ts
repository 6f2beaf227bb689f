import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { BatchFields } from '../generated/fields.ts';
import { openGiven } from '../given-file.ts';
import { showBatch } from './show-batch.ts';

const ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/videos',
] as const;

interface Options {
  readonly endpoint: (typeof ENDPOINTS)[number];
}

const WHAT_TO_GIVE = 'Check the path, or give the id of a stored file: `tallygate files list --purpose batch`.';

export const createBatch = (batches: Command, perform: Perform): Command =>
  withJson(
    BatchFields,
    batches
      .command('create')
      .description('Run the requests of a file as a batch, at half the price; the worst case is held at once')
      .argument('<file>', 'the requests, one JSON object a line; or the id of a stored file')
      .addOption(new Option('--endpoint <path>', 'the endpoint of the requests').choices(ENDPOINTS).default(ENDPOINTS[0])),
  ).action(perform(create));

async function create(world: CommandWorld, { args: [given = ''], options: { endpoint } }: Typed<Options>): Promise<ExitCode> {
  const { signal } = world;
  const file = /^file-[0-9a-f]{32}$/.test(given) ? await world.openFile(given) : await openGiven(world, given, WHAT_TO_GIVE);
  const client = await world.connect();
  const input_file_id = file ? (await client.files.create({ file, filename: basename(given), purpose: 'batch' }, { signal })).id : given;
  const batch = await client.batches.create({ input_file_id, endpoint, completion_window: '24h' }, { signal });
  showBatch(world, batch);
  return batch.status === 'failed' ? EXIT.failure : EXIT.ok;
}
