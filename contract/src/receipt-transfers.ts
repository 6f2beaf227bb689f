import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { binary, headersA, Livemode, problem, refusals } from './conventions.ts';

const c = initContract();

export const Month = z
  .string()
  .regex(/^20\d{2}-(?:0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
  .meta({ description: 'Receipts of requests of this UTC calendar month, as invoices count them, `YYYY-MM`.', examples: ['2026-11'] });

const TilePath = z.object({
  level: z.string().meta({ description: 'Level of tiles, 0 to 63, or `entries`.', examples: ['0'] }),
  tile: z.string().meta({ description: 'Number of the tile, or its first digits.', examples: ['000'] }),
});
const tileAnswers = {
  200: c.otherResponse({
    contentType: 'application/octet-stream',
    body: binary('At most 256 hashes of 32 bytes, one after the other; of entries, each behind its length.'),
  }),
  404: problem,
  ...refusals.openRead,
};

/** Answers that pass as they are read. */
export const receiptTransfers = c.router({
  exportReceipts: {
    method: 'GET',
    path: '/v1/receipts/export',
    summary: 'Export the receipts of a month',
    description:
      'All receipts of the account of a month, the oldest request first, as lines of JSON: a header with the state of the log, the receipts, each with its proof against that state, and a last line that counts them. The file verifies offline: `tallygate receipts verify`, or `verifyExport` of `@tallygate/receipts`. Receipts of the last seconds may be `pending` in it. Developers, who do not see all of the account, get 403.',
    headers: headersA,
    query: z.object({ month: Month, livemode: Livemode }),
    responses: {
      200: c.otherResponse({
        contentType: 'application/jsonl',
        body: z.string().meta({
          description: 'A line each.',
          examples: [
            '{"object":"receipt_export","version":"tallygate-export/v1","month":"2026-11",…}\n{"object":"receipt",…}\n{"object":"receipt_export.end","receipts":1,"logged":1}\n',
          ],
        }),
      }),
      ...refusals.read,
    },
    metadata: {
      auth: 'bearer',
      scope: 'account:read',
      tag: 'Receipts',
      operationId: 'exportReceipts',
      errors: { also: ['plan_required', 'forbidden'] },
    } as const,
  },
  getTile: {
    method: 'GET',
    path: '/v1/log/tile/:level/:tile',
    summary: 'Hashes of the log',
    description:
      'Public, and never changes. Hash tiles as c2sp.org/tlog-tiles has them: 256 hashes of the level `level · 8` of the tree, from `tile · 256` on; anyone can compute every proof from these. `tile` is written in groups of three digits, all but the last as a segment of the path of its own: `067`, `x001/067`; at the right edge of the log with the number of its hashes, `067.p/12`. With `entries` for the level: a bundle of 256 entries, each 32 bytes, the digest of a receipt, behind its length (two bytes, big-endian).',
    pathParams: TilePath,
    responses: tileAnswers,
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getLogTile' } as const,
  },
  getTileBelow: {
    method: 'GET',
    path: '/v1/log/tile/:level/:tile/:rest',
    summary: 'Hashes of the log, whose address is longer',
    description:
      'The same for addresses with a segment more: `000.p/12`, `x001/067`. Those of logs of more than 256,000 entries have further segments, one for each group of digits.',
    pathParams: TilePath.extend({ rest: z.string().meta({ description: 'What follows: digits, or how many hashes.', examples: ['12'] }) }),
    responses: tileAnswers,
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getLogTileBelow' } as const,
  },
});
