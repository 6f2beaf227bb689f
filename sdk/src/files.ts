import type { CreateFileFields, FileDeleted, FileList, FileObject } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { CursorCall } from './transport/cursor-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

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

/** Which files: at most `limit` after the one with the id `after`. */
export interface FileQuery {
  readonly after?: string | undefined;
  /** 1 to 10,000; default 10,000. */
  readonly limit?: number | undefined;
  /** Default: `desc`, newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
  readonly purpose?: string | undefined;
}

/** `tallygate.files`: stored files. */
export class Files {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Stores a file of at most 512 MiB. Larger ones go in parts: `uploads.send`. */
  create({ file, filename, purpose, expiresAfterSeconds }: CreateFile, options?: CallOptions): Call<FileObject> {
    const form = new FormData();
    form.append('purpose', purpose);
    if (expiresAfterSeconds !== undefined) {
      form.append('expires_after[anchor]', 'created_at');
      form.append('expires_after[seconds]', String(expiresAfterSeconds));
    }
    form.append('file', file, filename ?? ('name' in file ? String(file.name) : 'unknown_file'));
    return this.#transport.json({ method: 'POST', path: '/v1/files', form, isOnce: true }, options);
  }

  /** The account's files, newest first: the page that was asked for, or all from there on with `for await`. */
  list(query: FileQuery = {}, options?: CallOptions): CursorCall<FileList, FileObject> {
    const fetchPage = (after: string | undefined) =>
      this.#transport.json<FileList>({ method: 'GET', path: '/v1/files', query: { ...query, after } }, options).withResponse();
    return new CursorCall(fetchPage(query.after), fetchPage);
  }

  /** What is known of a file. */
  get(fileId: string, options?: CallOptions): Call<FileObject> {
    return this.#transport.json({ method: 'GET', path: filePath(fileId) }, options);
  }

  /** The bytes of a file, as a response whose body is still to come: `await (await files.content(id)).text()`, or its `body`. */
  content(fileId: string, options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: `${filePath(fileId)}/content` }, options);
  }

  /** Deletes a file with its bytes, permanently. */
  delete(fileId: string, options?: CallOptions): Call<FileDeleted> {
    return this.#transport.json({ method: 'DELETE', path: filePath(fileId) }, options);
  }
}

const filePath = (fileId: string): string => `/v1/files/${pathStep(fileId)}`;
