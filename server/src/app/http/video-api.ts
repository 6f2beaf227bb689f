import { contract } from '@tallygate/contract';
import { ownerOf } from '../../inference/files/index.ts';
import type { Videos } from '../../inference/videos/index.ts';
import type { Log } from '../../kernel/log.ts';
import { type Exchange, principalOf } from './exchange.ts';
import { partHeaders, rangeOf } from './file-download.ts';
import { queryOf } from './query.ts';
import type { ServedRoute } from './router.ts';
import { sendBytes, transferRoute } from './transfer.ts';

interface VideoApiDeps {
  readonly videos: Videos;
  /** How long a reader may do nothing at all. */
  readonly idleTimeoutMs: number;
  readonly log: Log;
}

const { content } = contract.videoTransfers;
const ENDINGS: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'image/webp': 'webp',
  'image/png': 'png',
  'image/jpeg': 'jpg',
};

/** Downloads of videos. */
export const videoRoutes = (deps: VideoApiDeps): ServedRoute[] => [transferRoute(content, (exchange) => download(exchange, deps))];

async function download(exchange: Exchange, deps: VideoApiDeps): Promise<void> {
  const { req, res, params } = exchange;
  const { variant } = queryOf(exchange, content.query);
  const videoId = params['video_id'] ?? '';
  const { content: stored, read } = await deps.videos.open(ownerOf(principalOf(exchange)), videoId, variant);
  const range = rangeOf(req.headers.range, stored.bytes);
  const { status, headers } = partHeaders(stored.bytes, range);
  const described = {
    ...headers,
    'content-type': stored.contentType,
    'content-disposition': `attachment; filename="${videoId}.${ENDINGS[stored.contentType] ?? 'bin'}"`,
  };
  await sendBytes({ req, res, status, headers: described, read: async () => (await read(range)).stream }, deps);
}
