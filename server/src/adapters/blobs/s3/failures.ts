import { StoreUnavailable } from '../../../kernel/store-failure.ts';

/** A bucket that answers and refuses: it is not there, or the credentials or their rights are wrong. Repeating changes nothing. */
class BucketRefused extends Error {
  constructor(bucket: string, cause: Error) {
    super(`The bucket ${bucket} refuses: ${cause.name}${cause.message === cause.name ? '' : `, ${cause.message}`}`, { cause });
    this.name = 'BucketRefused';
  }
}

/** What a request threw, as what it means. An answer of 429 or 5xx, and none at all, pass; every other answer is a refusal. */
export function failureOf(bucket: string, thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const status = statusOf(error);
  if (status === undefined || status === 408 || status === 429 || status >= 500)
    return new StoreUnavailable(`The bucket ${bucket} does not answer: ${error.name}`, { cause: error });
  return new BucketRefused(bucket, error);
}

/** Whether the object is missing, and not its bucket or the access key, for which some services answer with 404 too. */
export const isMissing = (thrown: unknown): boolean => thrown instanceof Error && statusOf(thrown) === 404 && MISSING.includes(thrown.name);

/** `NotFound` is what the SDK calls the answer of a HEAD, which has no body. */
const MISSING = ['NoSuchKey', 'NotFound', 'NoSuchUpload'];

/** RFC 9110, section 15.5.17: the range begins behind the end. */
export const isBehindEnd = (thrown: unknown): boolean => thrown instanceof Error && statusOf(thrown) === 416;

/** Undefined where nothing answered. */
function statusOf(error: Error): number | undefined {
  const metadata = '$metadata' in error ? error.$metadata : undefined;
  const status = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata ? metadata.httpStatusCode : undefined;
  return typeof status === 'number' ? status : undefined;
}
