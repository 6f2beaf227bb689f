import type { CreateFile } from './files.ts';
import type { FileObject, UploadPart } from './generated/models.ts';
import { Uploads as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';

/** The largest part that the service takes. */
const PART_BYTES = 64 * 1024 * 1024;

/** What sending in parts takes beside the file. */
export interface SendOptions extends CallOptions {
  /** Called after each part with the number of bytes sent. */
  readonly onProgress?: ((sentBytes: number) => void) | undefined;
}

/** `tallygate.uploads`: files that are sent in parts. */
export class Uploads extends Generated {
  /** Adds a part of at most 64 MiB. Parts may be sent in any order and side by side. */
  addPart(uploadId: string, data: Blob, options?: CallOptions): Call<UploadPart> {
    const form = new FormData();
    form.append('data', data, 'part');
    return this.transport.json({ method: 'POST', path: `${uploadPath(uploadId)}/parts`, form, isOnce: true }, options);
  }

  /** Sends a file of any size, up to 8 GiB, in parts one after the other. When it throws, what was sent is deleted. */
  async send(
    { file, filename, purpose, expiresAfterSeconds }: CreateFile,
    { onProgress, ...options }: SendOptions = {},
  ): Promise<FileObject> {
    const upload = await this.create(
      {
        bytes: file.size,
        filename: filename ?? ('name' in file ? String(file.name) : 'unknown_file'),
        mime_type: file.type || 'application/octet-stream',
        purpose,
        ...(expiresAfterSeconds !== undefined && { expires_after: { anchor: 'created_at', seconds: expiresAfterSeconds } }),
      },
      options,
    );
    try {
      const part_ids: string[] = [];
      for (let start = 0; start < file.size; start += PART_BYTES) {
        part_ids.push((await this.addPart(upload.id, file.slice(start, start + PART_BYTES), options)).id);
        onProgress?.(Math.min(start + PART_BYTES, file.size));
      }
      const completed = await this.complete(upload.id, { part_ids }, options);
      if (completed.file === null) throw new TypeError('The service completed the upload without a file.');
      return completed.file;
    } catch (error) {
      // Without the caller's signal, which may be what ended it. What cannot be cancelled expires within the hour.
      await this.cancel(upload.id, { maxRetries: 0 }).catch(() => {});
      throw error;
    }
  }
}

const uploadPath = (uploadId: string): string => `/v1/uploads/${pathStep(uploadId)}`;
