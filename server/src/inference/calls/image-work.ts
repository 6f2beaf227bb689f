import type { ImageEditRequest, ImageGenerationRequest, ImageVariationRequest, ReceiptUsage } from '@tallygate/contract';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Problem } from '../../kernel/problem.ts';
import { statedUsage } from '../../kernel/stated-usage.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import type { AnswerForm } from './answer-form.ts';
import { bytesBeside } from './cost-fields/index.ts';
import type { Dialect } from './dialect.ts';
import { BYTES_PER_TOKEN } from './estimate.ts';
import { MOST_INPUT_IMAGE_TOKENS, mostImageTokens, PARTIAL_IMAGE_TOKENS } from './image-tokens.ts';
import { jsonObjectOf } from './json-answer.ts';
import type { Received, ReceivedFile } from './operation.ts';
import { TypedEventStream } from './typed-event-stream.ts';
import { isRecord, isSaid, NO_USAGE, partIn, readTokens, usageOfAnswer, usedUsage } from './usage.ts';
import type { Work } from './work.ts';

type Json = Readonly<Record<string, unknown>>;

interface ImageJob {
  readonly endpoint: '/v1/images/generations' | '/v1/images/edits' | '/v1/images/variations';
  readonly request: ImageGenerationRequest | ImageEditRequest | ImageVariationRequest;
  readonly images: number;
  readonly files: readonly ReceivedFile[];
  /** Images in: files, or references in JSON. */
  readonly inputImages: number;
  /** What a stream's events are called. */
  readonly event: 'image_generation' | 'image_edit';
}

export const imageWork = (request: ImageGenerationRequest, received: Received): Work =>
  workOf(
    { endpoint: '/v1/images/generations', request, images: request.n ?? 1, files: [], inputImages: 0, event: 'image_generation' },
    received,
  );

/** Images that say where and how others are edited. */
const BESIDE: readonly string[] = ['mask', 'markup'];
/** OpenAI's own bound. */
const MOST_INPUT_IMAGES = 16;

/** @throws Problem `validation_failed` without an image, with too many, or with one that only the provider could know */
export function imageEditWork(request: ImageEditRequest, received: Received): Work {
  const referred: readonly unknown[] = Array.isArray(request['images']) ? request['images'] : [];
  const files = received.files.filter(({ field }) => !BESIDE.includes(field));
  const images = files.length + referred.length;
  if (images < 1 || images > MOST_INPUT_IMAGES)
    throw wrong('image', `must be 1 to ${MOST_INPUT_IMAGES} images, as files of the form or as \`images\` by URL`);
  for (const [index, image] of referred.entries()) requireUrl(image, `images[${index}]`);
  const beside = BESIDE.filter((name) => request[name] !== undefined && request[name] !== null);
  for (const name of beside) requireUrl(request[name], name);
  const inputImages = received.files.length + referred.length + beside.length;
  return workOf(
    { endpoint: '/v1/images/edits', request, images: request.n ?? 1, files: received.files, inputImages, event: 'image_edit' },
    received,
  );
}

/** The provider knows its own files, and those of others there: ours have no ids that it would know. */
function requireUrl(image: unknown, param: string): void {
  if (!isRecord(image) || typeof image['image_url'] !== 'string' || image['file_id'] !== undefined)
    throw wrong(param, 'must be `{"image_url": …}`: files stored here cannot be named, send them in a form');
}

const wrong = (param: string, msg: string): Problem => invalidInput([{ loc: ['body', param], msg, type: 'invalid' }]);

export const imageVariationWork = (request: ImageVariationRequest, received: Received): Work =>
  workOf(
    {
      endpoint: '/v1/images/variations',
      request,
      images: request.n ?? 1,
      files: received.files,
      inputImages: Math.max(1, received.files.length),
      event: 'image_edit',
    },
    received,
  );

function workOf({ endpoint, request, images, files, inputImages, event }: ImageJob, { sha256 }: Received): Work {
  const prompt = typeof request['prompt'] === 'string' ? request['prompt'] : '';
  const promptBytes = Buffer.byteLength(prompt);
  const isStream = request['stream'] === true;
  const partials = isStream && typeof request['partial_images'] === 'number' ? request['partial_images'] : 0;
  const each = mostImageTokens(request.size, typeof request['quality'] === 'string' ? request['quality'] : undefined);
  const imageOutputTokens = images * (each + partials * PARTIAL_IMAGE_TOKENS);
  const inputTokens = promptBytes + bytesBeside(endpoint, request) + TEMPLATE_TOKENS + inputImages * MOST_INPUT_IMAGE_TOKENS;
  return {
    endpoint,
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream,
    needs: endpoint === '/v1/images/generations' ? [] : [{ capability: 'edits', param: 'image' }],
    output: null,
    cheaper: endpoint === '/v1/images/variations' ? 'lower `n` or `size`' : 'lower `n`, `size` or `quality`',
    estimatedTokens: Math.ceil(promptBytes / BYTES_PER_TOKEN),
    dialects: [
      { endpoint, request, ...(files.length > 0 && { files: files.map(upstreamFile) }), form: imageForm(images, event) } as Dialect,
    ],
    bound: () => ({ inputTokens, imageOutputTokens, images }),
    async estimate(_model, { text, scale }) {
      const made = (letter: string, most: number) => Math.min(Math.round((text.split(letter).length - 1) * scale), most);
      const whole = made(WHOLE, images);
      const output = whole * each + made(PARTIAL, partials * images) * PARTIAL_IMAGE_TOKENS;
      return {
        ...NO_USAGE,
        // Of images in nobody knows the tokens: where nothing came of them, they are not charged.
        input_tokens: Math.min(
          inputTokens,
          Math.ceil(promptBytes / BYTES_PER_TOKEN) + (output > 0 ? inputImages * MOST_INPUT_IMAGE_TOKENS : 0),
        ),
        output_tokens: output,
        // One that was begun counts as one: quota was held for images alone.
        ...(output > 0 && { image_output_tokens: output, images: Math.max(1, whole) }),
      };
    },
    requestSha256: sha256,
  };
}

/** Delivered images are written down as a letter each. */
const WHOLE = 'i';
const PARTIAL = 'p';

/** What is put around a prompt. */
const TEMPLATE_TOKENS = 64;

/** Several images stand under `image[]`, one under `image`, as OpenAI's own clients send them. */
const upstreamFile = (file: ReceivedFile, _index: number, all: readonly ReceivedFile[]) => ({
  ...file,
  field: all.filter(({ field }) => field === file.field).length > 1 ? `${file.field}[]` : file.field,
});

const imageForm = (images: number, event: ImageJob['event']): AnswerForm => ({
  async read(bytes) {
    const value = await jsonObjectOf(bytes);
    if (!Array.isArray(value?.['data']) || value['data'].length === 0) return undefined;
    const made = value['data'].length;
    const { usage, usageSaid } = usageOfAnswer(readImageUsage(statedUsage(value), made), () => true);
    return {
      contentType: 'application/json',
      ...{ usage, usageSaid },
      delivered: { text: WHOLE.repeat(made), scale: 1 },
      value,
      toBytes: (cost) => writtenJson({ ...value, usage: shownUsage(usage && value['usage'], cost.usage, cost.costUsd) }),
    };
  },
  usageIn: (usage) => usedUsage(readImageUsage(usage, images)),
  openStream: () => new TypedEventStream(imageEvents(images, `${event}.completed`)),
});

/** Each image has a completed event of its own; the last of them is the stream's. */
function imageEvents(images: number, completed: string) {
  const finished: Json[] = [];
  return {
    isWatched: (type: string) => type === completed,
    isFinal: (type: string) => type === completed && finished.length === images - 1,
    rewrite(event: Json) {
      finished.push(event);
      return event;
    },
    readUsage(event: Json): ReceiptUsage | undefined {
      const each = [...finished, event].map((each) => readImageUsage(statedUsage(each), 1));
      return each.reduce((sum, usage) => (sum && usage ? added(sum, usage) : undefined));
    },
    withCost: (final: Json, cost: { usage: ReceiptUsage; costUsd: number }) => ({
      ...final,
      usage: shownUsage(final['usage'], cost.usage, cost.costUsd),
    }),
    textOf: ({ type }: Json) => (type === completed ? WHOLE : PARTIAL),
  };
}

/** OpenAI's usage of images. Where the parts of the output are not told apart, all of it is image. */
function readImageUsage(usage: unknown, images: number): ReceiptUsage | undefined {
  const tokens = readTokens(usage);
  if (!tokens) return undefined;
  const { input, output, inputDetails, outputDetails } = tokens;
  const imageIn = partIn(inputDetails, 'image_tokens', input) ?? 0;
  const imageOut = partIn(outputDetails, 'image_tokens', output) ?? output;
  return {
    ...NO_USAGE,
    input_tokens: input,
    output_tokens: output,
    ...(imageIn > 0 && { image_input_tokens: imageIn }),
    ...(imageOut > 0 && { image_output_tokens: imageOut }),
    images,
  };
}

function added(a: ReceiptUsage, b: ReceiptUsage): ReceiptUsage {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof ReceiptUsage)[];
  return Object.assign({ ...NO_USAGE }, ...names.map((name) => ({ [name]: (a[name] ?? 0) + (b[name] ?? 0) })));
}

const shownUsage = (reported: unknown, usage: ReceiptUsage, cost: number): Json => ({
  ...(isRecord(reported) && isSaid(readImageUsage(reported, 0), usage)
    ? reported
    : {
        total_tokens: usage.input_tokens + usage.output_tokens,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        input_tokens_details: { text_tokens: usage.input_tokens, image_tokens: 0 },
      }),
  cost,
});
