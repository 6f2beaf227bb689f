import type { Readable } from 'node:stream';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { isRecord } from './usage.ts';

/** A stored file as far as a request needs it. */
export interface InlinableFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  read(): Promise<Readable>;
}

/** Opens a file of the caller's. @throws Problem `not_found` */
export type OpenFile = (owner: { readonly accountId: string; readonly livemode: boolean }, fileId: string) => Promise<InlinableFile>;

/** What OpenAI takes of files in one request. They pass through memory, so it is also what one request may cost us. */
const MOST_INLINE_BYTES = 50 * 1024 * 1024;

interface Place {
  /** The path of the part, for a refusal. */
  readonly loc: readonly (string | number)[];
}

/** Puts the bytes of stored files in the place of their ids: providers know our files under no id. One request after the other reads a file. */
export class FileInliner {
  readonly #open: (fileId: string) => Promise<InlinableFile>;
  readonly #urls = new Map<string, Promise<{ url: string; filename: string }>>();
  #bytes = 0;

  constructor(open: (fileId: string) => Promise<InlinableFile>) {
    this.#open = open;
  }

  /** The file as a data URL. @throws Problem `not_found`, `validation_failed` where it is too large */
  dataUrl(fileId: string, place: Place): Promise<{ url: string; filename: string }> {
    const known = this.#urls.get(fileId) ?? this.#read(fileId, place);
    this.#urls.set(fileId, known);
    return known;
  }

  async #read(fileId: string, { loc }: Place): Promise<{ url: string; filename: string }> {
    const file = await this.#open(fileId);
    this.#bytes += file.bytes;
    if (this.#bytes > MOST_INLINE_BYTES)
      throw invalidInput([
        {
          loc: ['body', ...loc],
          msg: `is too large: the files of a request may have ${MOST_INLINE_BYTES} bytes together`,
          type: 'too_big',
        },
      ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await file.read()) chunks.push(chunk);
    return { url: `data:${file.contentType};base64,${Buffer.concat(chunks).toString('base64')}`, filename: file.filename };
  }
}

type Part = Readonly<Record<string, unknown>>;

/** A part of a response's input with its file inside. */
export async function inlinedPart(part: unknown, files: FileInliner, place: Place): Promise<unknown> {
  if (!isRecord(part) || typeof part['file_id'] !== 'string' || part['file_id'] === '') return part;
  const { file_id: id, ...rest }: Part = part;
  if (part['type'] === 'input_image' || part['type'] === 'computer_screenshot')
    return { ...rest, image_url: (await files.dataUrl(String(id), place)).url };
  if (part['type'] !== 'input_file') return part;
  const { url, filename } = await files.dataUrl(String(id), place);
  return { ...rest, filename: part['filename'] ?? filename, file_data: url };
}

/** The same of a chat's `file` part. */
export async function inlinedChatPart(part: unknown, files: FileInliner, place: Place): Promise<unknown> {
  if (!isRecord(part) || part['type'] !== 'file' || !isRecord(part['file'])) return part;
  const { file_id: id, ...rest } = part['file'];
  if (typeof id !== 'string' || id === '') return part;
  const { url, filename } = await files.dataUrl(id, place);
  return { ...part, file: { ...rest, filename: rest['filename'] ?? filename, file_data: url } };
}
