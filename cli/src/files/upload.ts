import { basename } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { FileObjectFields } from '../generated/fields.ts';
import { openGiven } from '../given-file.ts';
import { ProgressLine, sizeText } from '../progress.ts';
import { showFile } from './show-file.ts';

const PURPOSES = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'] as const;
/** What the service takes in one piece. */
const WHOLE_BYTES = 512 * 1024 * 1024;

interface Options {
  readonly purpose: (typeof PURPOSES)[number];
  readonly name?: string;
  readonly expiresAfter?: number;
}

export const uploadFile = (files: Command, perform: Perform): Command =>
  withJson(
    FileObjectFields,
    files
      .command('upload')
      .description('Store a file; more than 512 MiB go in parts by themselves')
      .argument('<file>', 'the file to send')
      .addOption(new Option('--purpose <purpose>', 'what it is for').choices(PURPOSES).default('user_data'))
      .option('--name <name>', 'its name in the store (default: its own name)')
      .option('--expires-after <seconds>', 'seconds until it is deleted, 3600 to 2592000', seconds),
  ).action(perform(upload));

async function upload(world: CommandWorld, { args: [path = ''], options }: Typed<Options>): Promise<void> {
  const file = await openGiven(world, path);
  const client = await world.connect();
  const request = {
    file,
    filename: options.name ?? basename(path),
    purpose: options.purpose,
    expiresAfterSeconds: options.expiresAfter,
  };
  const line = new ProgressLine(world.err);
  const onProgress = (sent: number) => line.show(`${sizeText(sent)} of ${sizeText(file.size)} sent`);
  const { signal } = world;
  const stored = file.size > WHOLE_BYTES ? client.uploads.send(request, { signal, onProgress }) : client.files.create(request, { signal });
  showFile(world, await stored.finally(() => line.clear()));
}

function seconds(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 3_600 && value <= 2_592_000) return value;
  throw new InvalidArgumentError('Expected 3600 to 2592000 seconds.');
}
