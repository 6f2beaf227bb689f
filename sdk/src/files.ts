import type { CreateFileFields, FileObject } from './generated/models.ts';
import { Files as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';

/** A file to be stored. */
export interface CreateFile {
  /**
   * The bytes, sent piece by piece. In Node, `await openAsBlob(path)` of `node:fs` reads them from the disk as they are sent; in browsers
   * a `File` of an input does.
   */
  readonly file: Blob;
  /** Default: the file's own name. */
  readonly filename?: string | undefined;
  readonly purpose: CreateFileFields['purpose'];
  /** Seconds until the file deletes itself, 3,600 to 2,592,000. Default: thirty days for `batch`, else never. */
  readonly expiresAfterSeconds?: number | undefined;
}

/** `tallygate.files`: stored files. */
export class Files extends Generated {
  /** Stores a file of at most 512 MiB. Larger ones go in parts: `uploads.send`. */
  create({ file, filename, purpose, expiresAfterSeconds }: CreateFile, options?: CallOptions): Call<FileObject> {
    const form = new FormData();
    form.append('purpose', purpose);
    if (expiresAfterSeconds !== undefined) {
      form.append('expires_after[anchor]', 'created_at');
      form.append('expires_after[seconds]', String(expiresAfterSeconds));
    }
    form.append('file', file, filename ?? ('name' in file ? String(file.name) : 'unknown_file'));
    return this.transport.json({ method: 'POST', path: '/v1/files', form, isOnce: true }, options);
  }
}
