/** A bucket of AWS S3, or of a service with the same API. */
export interface BucketSettings {
  readonly bucket: string;
  /** Undefined: AWS, in the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined: those of the machine, as the AWS SDK finds them (variables, files, roles). */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** What names of objects begin with, such as `tallygate/`; empty for a bucket that is the gateway's alone. */
  readonly prefix: string;
  /** Whether the bucket is in the path of an address and not in its host name. */
  readonly isPathStyle: boolean;
}
