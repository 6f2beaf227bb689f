import { S3Client } from '@aws-sdk/client-s3';
import type { BucketSettings } from './bucket-settings.ts';

const CONNECT_WITHIN_MS = 5_000;
/** For a request with a part of 5 MiB and the head of its answer. */
const ANSWER_WITHIN_MS = 60_000;
/** Nothing moved for so long: the bucket hangs, or nobody reads what it sends. */
const IDLE_MS = 300_000;
/** More requests at the same time than these wait. A download has a connection until it is read. */
const CONNECTIONS = 256;
const ATTEMPTS = 3;

export function openClient({ endpoint, region, credentials, isPathStyle }: BucketSettings): S3Client {
  return new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials && { credentials }),
    forcePathStyle: isPathStyle,
    maxAttempts: ATTEMPTS,
    // The signature covers the SHA-256 of a body; not every service has the checksums that came later.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_WITHIN_MS,
      requestTimeout: ANSWER_WITHIN_MS,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_MS,
      httpAgent: { keepAlive: true, maxSockets: CONNECTIONS },
      httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS },
    },
  });
}
