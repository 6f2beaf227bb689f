import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

/** The smallest part that is allowed, of which there may be 10,000: objects of up to 48 GiB, more than any file may have. */
const PART_BYTES = 5 * 1024 * 1024;
/** Most blobs are small. */
const FIRST_BYTES = 64 * 1024;

interface ObjectName {
  readonly Bucket: string;
  readonly Key: string;
}

/**
 * An object that appears when it is complete. What fits into a part is put by one request; of anything larger a part is in memory, and the
 * upload is aborted unless it is completed. A part is sent before more content is read.
 */
export class MultipartPut {
  readonly #client: S3Client;
  readonly #name: ObjectName;
  #part = Buffer.allocUnsafe(FIRST_BYTES);
  #filled = 0;
  #uploadId: string | undefined;
  readonly #tags: (string | undefined)[] = [];

  constructor(client: S3Client, name: ObjectName) {
    this.#client = client;
    this.#name = name;
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.byteLength; ) {
      if (this.#filled === PART_BYTES) await this.#sendPart();
      const taken = Math.min(PART_BYTES - this.#filled, chunk.byteLength - at);
      this.#makeRoom(this.#filled + taken);
      this.#part.set(chunk.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
    }
  }

  async complete(): Promise<void> {
    if (this.#uploadId === undefined) {
      await this.#client.send(new PutObjectCommand({ ...this.#name, Body: this.#part.subarray(0, this.#filled) }));
      return;
    }
    await this.#sendPart();
    const Parts = this.#tags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
    await this.#client.send(new CompleteMultipartUploadCommand({ ...this.#upload(), MultipartUpload: { Parts } }));
    this.#uploadId = undefined;
  }

  /** Deletes the parts that were sent, unless the object is complete. One that cannot be aborted now is left to the sweep. */
  async abort(): Promise<void> {
    if (this.#uploadId === undefined) return;
    await this.#client.send(new AbortMultipartUploadCommand(this.#upload())).catch(() => {});
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#part.length) return;
    const larger = Buffer.allocUnsafe(Math.min(PART_BYTES, 2 * bytes));
    this.#part.copy(larger, 0, 0, this.#filled);
    this.#part = larger;
  }

  async #sendPart(): Promise<void> {
    if (this.#uploadId === undefined) {
      const begun = await this.#client.send(new CreateMultipartUploadCommand(this.#name));
      if (begun.UploadId === undefined) throw new Error('A multipart upload was begun without an id');
      this.#uploadId = begun.UploadId;
    }
    const Body = this.#part.subarray(0, this.#filled);
    const { ETag } = await this.#client.send(new UploadPartCommand({ ...this.#upload(), PartNumber: this.#tags.length + 1, Body }));
    this.#tags.push(ETag);
    this.#filled = 0;
  }

  #upload() {
    return { ...this.#name, UploadId: this.#uploadId };
  }
}
