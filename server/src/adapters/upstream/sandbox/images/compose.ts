import { nextTurn } from '../../../../kernel/turn.ts';
import type { UpstreamCallOf } from '../../port.ts';
import { billed } from '../billing.ts';
import { type Circumstances, type Composition, dataEvent, jsonBody, namedEvent, type StreamEvent, unixSeconds } from '../composition.ts';
import type { Rejection } from '../rejection.ts';
import { countTokens } from '../tokens.ts';
import { inputTokens, outputTokens, PARTIAL_IMAGE_TOKENS } from './image-tokens.ts';
import { jpeg } from './jpeg.ts';
import { type Order, orderOf } from './order.ts';
import { coarse, type Picture, paint } from './picture.ts';
import { png } from './png.ts';
import { type References, referencesOf } from './references.ts';
import { webp } from './webp.ts';

type Call = UpstreamCallOf<'/v1/images/generations'> | UpstreamCallOf<'/v1/images/edits'> | UpstreamCallOf<'/v1/images/variations'>;

/** Of every image that is shown on the way: how many squares are one in it. */
const COARSENESS = [8, 4, 2] as const;

/** Images: made from words, from images and words, or from an image alone. */
export async function composeImages(call: Call, circumstances: Circumstances): Promise<Composition | Rejection> {
  // A variation has none of the fields that say how; it takes what is usual.
  const request = { prompt: '', ...call.request };
  const references = await referencesOf(call.files, call.endpoint === '/v1/images/edits' ? call.request['images'] : undefined);
  if (!references.ok) return references;
  const order = orderOf(request, references);
  if (!order.ok) return order;
  const seed = (index: number) => JSON.stringify([request.prompt, references.digest, index]);
  const isTransparent = order.background === 'transparent';
  const pictures = Array.from({ length: order.count }, (_, index) => paint({ ...order, seed: seed(index), isTransparent }));
  const made = { call, request, order, references, pictures };
  return call.stream ? streamed(made, circumstances) : plain(made, circumstances);
}

interface Made {
  readonly call: Call;
  readonly request: Parameters<typeof orderOf>[0];
  readonly order: Order;
  readonly references: References;
  readonly pictures: readonly Picture[];
}

async function plain(made: Made, { clock, fault }: Circumstances): Promise<Composition> {
  const { order, request } = made;
  const data: object[] = [];
  for (const picture of made.pictures) {
    const base64 = (await encoded(picture, made.order)).toString('base64');
    data.push(request.response_format === 'url' ? { url: `data:image/${order.format};base64,${base64}` } : { b64_json: base64 });
  }
  const { background, quality, size, output_format } = described(order);
  const usage = billed(usageOf(made, order.count, 0), fault, doubled);
  return jsonBody({ created: unixSeconds(clock), background, data, output_format, quality, size, usage });
}

/** For each image its coarse versions, then the whole one with its own usage. What was sent along is billed with the first. */
async function streamed(made: Made, { clock, fault }: Circumstances): Promise<Composition> {
  const kind = made.call.endpoint === '/v1/images/generations' ? 'image_generation' : 'image_edit';
  const common = { created_at: unixSeconds(clock), ...described(made.order) };
  const partials = made.request.partial_images ?? 0;
  const events: StreamEvent[] = [];
  for (const [index, picture] of made.pictures.entries()) {
    for (const [partial_image_index, squares] of COARSENESS.slice(0, partials).entries()) {
      const b64_json = (await encoded(coarse(picture, squares), made.order)).toString('base64');
      events.push({ part: 'content', text: namedEvent({ type: `${kind}.partial_image`, b64_json, partial_image_index, ...common }) });
    }
    const usage = billed(index === 0 ? usageOf(made, 1, partials) : withoutInput(usageOf(made, 1, partials)), fault, doubled);
    const b64_json = (await encoded(picture, made.order)).toString('base64');
    const isLast = index === made.pictures.length - 1;
    events.push({ part: isLast ? 'closing' : 'opening', text: namedEvent({ type: `${kind}.completed`, b64_json, ...common, usage }) });
  }
  return { ok: true, events, failure: (error) => `event: error\n${dataEvent({ type: 'error', error })}` };
}

const described = ({ background, quality, width, height, format }: Order) => ({
  background,
  quality,
  size: `${width}x${height}`,
  output_format: format,
});

async function encoded(picture: Picture, { format }: Order): Promise<Buffer> {
  await nextTurn();
  switch (format) {
    case 'png':
      return png(picture);
    case 'webp':
      return webp(picture);
    case 'jpeg':
      return jpeg(picture);
    default:
      return format satisfies never;
  }
}

/** Of so many images, each with as many shown on the way. */
function usageOf({ request, order, references }: Made, images: number, partials: number) {
  const text_tokens = countTokens(request.prompt);
  const fidelity = 'input_fidelity' in request ? String(request.input_fidelity) : null;
  const image_tokens = references.headers.reduce((sum, header) => sum + inputTokens(header, fidelity), 0);
  const output_tokens = images * (outputTokens(order.quality, order.width, order.height) + partials * PARTIAL_IMAGE_TOKENS);
  return imageUsage(text_tokens, image_tokens, output_tokens);
}

const imageUsage = (text_tokens: number, image_tokens: number, output_tokens: number) => ({
  total_tokens: text_tokens + image_tokens + output_tokens,
  input_tokens: text_tokens + image_tokens,
  output_tokens,
  input_tokens_details: { text_tokens, image_tokens },
  output_tokens_details: { text_tokens: 0, image_tokens: output_tokens },
});

const withoutInput = ({ output_tokens }: ReturnType<typeof imageUsage>) => imageUsage(0, 0, output_tokens);

const doubled = ({ input_tokens_details: { text_tokens, image_tokens }, output_tokens }: ReturnType<typeof imageUsage>) =>
  imageUsage(text_tokens, image_tokens, 2 * output_tokens + 16);
