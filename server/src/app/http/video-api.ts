import type { IncomingMessage, ServerResponse } from 'node:http';
import { contract } from '@tallygate/contract';
import { ownerOf } from '../../files/index.ts';
import type { Log } from '../../kernel/log.ts';
import type { Videos } from '../../videos/index.ts';
import type { Authenticator } from './credentials.ts';
import { metadataOf } from './endpoint.ts';
import { partHeaders, rangeOf } from './file-download.ts';
import { paramsIn, pathnameOf } from './path-table.ts';
import { requestIdOf } from './request-id.ts';
import { admitTransfer, refuseTransfer, sendBytes, TRANSFER_HEADERS } from './transfer.ts';
import { validationProblem } from './validation.ts';

interface VideoApiDeps {
  readonly videos: Videos;
  readonly authenticator: Authenticator;
  /** How long a reader may do nothing at all. */
  readonly idleTimeoutMs: number;
  readonly publicUrl: () => string;
  readonly log: Log;
}

const { content } = contract.videoTransfers;
const METADATA = metadataOf(content);
const ENDINGS: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'image/webp': 'webp',
  'image/png': 'png',
  'image/jpeg': 'jpg',
};

/** Downloads of videos, whose bytes pass as they come. Beside the account API, which would hold them in memory. */
export function createVideoApi(deps: VideoApiDeps) {
  const videoIdOf = ({ method, url = '' }: IncomingMessage): string | undefined =>
    method === 'GET' || method === 'HEAD' ? paramsIn(content.path, pathnameOf(url))?.['video_id'] : undefined;
  return {
    handles: (req: IncomingMessage): boolean => videoIdOf(req) !== undefined,

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const requestId = requestIdOf(req.headers);
      for (const [name, value] of Object.entries({ ...TRANSFER_HEADERS, 'x-request-id': requestId })) res.setHeader(name, value);
      try {
        const owner = ownerOf(await admitTransfer(req, deps.authenticator, METADATA));
        await download(req, res, { owner, videoId: videoIdOf(req) ?? '' }, deps);
      } catch (thrown) {
        refuseTransfer(thrown, { req, res, requestId }, deps);
      }
    },
  };
}

interface Wanted {
  readonly owner: ReturnType<typeof ownerOf>;
  readonly videoId: string;
}

async function download(req: IncomingMessage, res: ServerResponse, { owner, videoId }: Wanted, deps: VideoApiDeps): Promise<void> {
  const query = content.query.safeParse(Object.fromEntries(new URL(req.url ?? '', 'http://gateway.invalid').searchParams));
  if (!query.success) throw validationProblem({ query: query.error });
  const { content: stored, read } = await deps.videos.open(owner, videoId, query.data.variant);
  const range = rangeOf(req.headers.range, stored.bytes);
  const { status, headers } = partHeaders(stored.bytes, range);
  const described = {
    ...headers,
    'content-type': stored.contentType,
    'content-disposition': `attachment; filename="${videoId}.${ENDINGS[stored.contentType] ?? 'bin'}"`,
  };
  await sendBytes({ req, res, status, headers: described, read: async () => (await read(range)).stream }, deps);
}
