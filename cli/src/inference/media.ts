import { type Command, Option } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { openGiven } from '../given-file.ts';
import { requireWritable } from '../output-file.ts';
import { plainText } from '../print.ts';
import { promptOf, writeRemark } from './prompt.ts';

const SOUNDS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
const TEXTS = ['text', 'srt', 'vtt'] as const;

interface ImageOptions {
  readonly model: string;
  readonly size?: string;
  readonly quality?: string;
  readonly output?: string;
}

interface SpeakOptions {
  readonly model: string;
  readonly voice: string;
  readonly format: (typeof SOUNDS)[number];
  readonly output?: string;
}

interface TranscribeOptions {
  readonly model: string;
  readonly format: (typeof TEXTS)[number];
  readonly language?: string;
}

export const image = (command: Command, perform: Perform): Command =>
  command
    .argument('[prompt...]', 'what to show; read from stdin when left out')
    .option('-m, --model <id>', 'which model', 'gpt-image-1')
    .option('--size <size>', 'width and height, such as 1024x1024')
    .option('--quality <quality>', 'low, medium or high')
    .option('-o, --output <file>', 'write it to a file instead of stdout')
    .action(perform(paint));

async function paint(world: CommandWorld, { args, options }: Typed<ImageOptions>): Promise<void> {
  const { model, size, quality, output } = options;
  refuseBytesToTerminal(world, output);
  const prompt = await promptOf(world, args, { what: 'prompt', example: 'tallygate image "A ledger." -o ledger.png' });
  await requireWritable(world, output);
  const client = await world.connect();
  const { data, receiptId, costUsd } = await client.images
    .generate({ model, prompt, size, quality }, { signal: world.signal })
    .withResponse();
  const base64 = data.data[0]?.b64_json;
  if (base64 === undefined) throw new Failure('unexpected_response', 'The answer has no image.', EXIT.failure);
  await save(world, piece(Buffer.from(base64, 'base64')), output).finally(() => writeRemark(world, { cost: costUsd, receiptId, model }));
}

export const speak = (command: Command, perform: Perform): Command =>
  command
    .argument('[text...]', 'what to say; read from stdin when left out')
    .option('-m, --model <id>', 'which model', 'tts-1')
    .option('--voice <name>', 'whose voice', 'alloy')
    .addOption(new Option('--format <format>', 'of the audio').choices(SOUNDS).default('mp3'))
    .option('-o, --output <file>', 'write it to a file instead of stdout')
    .action(perform(say));

async function say(world: CommandWorld, { args, options }: Typed<SpeakOptions>): Promise<void> {
  const { model, voice, format, output } = options;
  refuseBytesToTerminal(world, output);
  const input = await promptOf(world, args, { what: 'text', example: 'tallygate speak "Hello." -o hello.mp3' });
  await requireWritable(world, output);
  const client = await world.connect();
  const request = { model, voice, input, response_format: format };
  const { data, receiptId, costUsd } = await client.audio.speech.create(request, { signal: world.signal }).withResponse();
  await save(world, data.body ?? piece(new Uint8Array()), output).finally(() => writeRemark(world, { cost: costUsd, receiptId, model }));
}

export const transcribe = (command: Command, perform: Perform): Command =>
  command
    .argument('<file>', 'the recording')
    .option('-m, --model <id>', 'which model', 'whisper-1')
    .addOption(new Option('--format <format>', 'text, or subtitles').choices(TEXTS).default('text'))
    .option('--language <code>', 'language of the recording, such as en')
    .action(perform(hear));

async function hear(world: CommandWorld, { args: [path = ''], options }: Typed<TranscribeOptions>): Promise<void> {
  const { model, format, language } = options;
  const recording = await openGiven(world, path);
  const client = await world.connect();
  // Some models know the format by the name.
  const file = new File([recording], path);
  const request = { model, file, response_format: format, ...(language && { language }) };
  const { data, receiptId, costUsd } = await client.audio.transcriptions.create(request, { signal: world.signal }).withResponse();
  const text = await data.text();
  world.out.write(world.out.isTty ? plainText(text) : text);
  if (!text.endsWith('\n')) world.out.write('\n');
  writeRemark(world, { cost: costUsd, receiptId, model });
}

/** Before anything is paid for. */
function refuseBytesToTerminal({ out }: CommandWorld, output: string | undefined): void {
  if (output === undefined && out.isTty)
    throw new Failure('usage', 'This cannot be printed on a terminal.', EXIT.usage, 'Name a file with --output.');
}

/** The cost is printed whether or not this succeeds. */
async function save(world: CommandWorld, bytes: AsyncIterable<Uint8Array>, output: string | undefined): Promise<void> {
  await world.saveBytes(output ?? '-', bytes);
  if (output !== undefined && output !== '-') world.err.write(plainText(`Wrote ${output}.\n`));
}

async function* piece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
