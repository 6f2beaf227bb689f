import * as z from 'zod';
import type { BucketSettings } from '../adapters/blobs/s3/bucket-settings.ts';
import { ConfigError } from './config-error.ts';
import { httpUrl } from './http-url.ts';

export const BUCKET_VARIABLES = {
  S3_BUCKET: z.string().min(1).max(255).optional(),
  S3_ENDPOINT: httpUrl.optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  S3_PREFIX: z
    .string()
    .regex(/^([A-Za-z0-9._-]+\/)*$/, 'Expected segments with a slash behind each, such as tallygate/')
    .default(''),
  S3_PATH_STYLE: z.enum(['on', 'off']).optional(),
};

const Given = z.object(BUCKET_VARIABLES);

/**
 * Undefined: files are on the local disk.
 * @throws ConfigError
 */
export function bucketOf(given: z.infer<typeof Given>): BucketSettings | undefined {
  const { S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = given;
  const faults: string[] = [];
  if (bucket === undefined && (endpoint ?? accessKeyId ?? secretAccessKey) !== undefined)
    faults.push('S3_BUCKET is missing, and other variables of S3 are set.');
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    faults.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are set together.');
  if (faults.length > 0) throw new ConfigError(faults);
  if (bucket === undefined) return undefined;
  return {
    ...{ bucket, endpoint, region: given.S3_REGION, prefix: given.S3_PREFIX },
    credentials: accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined,
    // Only AWS has a host name for each bucket everywhere.
    isPathStyle: given.S3_PATH_STYLE === undefined ? endpoint !== undefined : given.S3_PATH_STYLE === 'on',
  };
}
