import { hash } from 'node:crypto';
import type { UpstreamFile } from '../../port.ts';
import { readDataUrl } from '../chat/attachments.ts';
import { headOf } from '../files.ts';
import { type ImageHeader, readImageHeader } from '../image-header.ts';
import { type Rejection, rejection } from '../rejection.ts';

/** The images that a request brings along. */
export interface References {
  readonly ok: true;
  /** Follows from all of them. */
  readonly digest: string;
  /** Of every image whose size is known; a link is never followed. */
  readonly headers: readonly ImageHeader[];
  readonly count: number;
}

const IMAGE_FIELD = /^(?:image(?:\[\d*\])?|input_reference)$/;

/** Files of a form first, then the `images` of a JSON request. Refuses what is no image. */
export async function referencesOf(files: readonly UpstreamFile[] = [], listed: unknown = []): Promise<References | Rejection> {
  const headers: ImageHeader[] = [];
  const digests: string[] = [];
  for (const file of files) {
    if (!IMAGE_FIELD.test(file.field) && file.field !== 'mask') continue;
    const head = await headOf(file);
    const header = readImageHeader(head);
    if (!header) return notAnImage(file.field);
    digests.push(hash('sha256', head, 'hex'));
    if (file.field !== 'mask') headers.push(header);
  }
  const entries = Array.isArray(listed) ? listed : [];
  for (const [index, entry] of entries.entries()) {
    const { image_url: url, file_id: id } = Object(entry);
    if (typeof url !== 'string' && typeof id !== 'string') return notAnImage(`images[${index}]`);
    const bytes = typeof url === 'string' ? readDataUrl(url) : undefined;
    const header = bytes && readImageHeader(bytes);
    if (bytes && !header) return notAnImage(`images[${index}].image_url`);
    digests.push(hash('sha256', bytes ?? String(url ?? id), 'hex'));
    if (header) headers.push(header);
  }
  const images = files.filter(({ field }) => IMAGE_FIELD.test(field)).length + entries.length;
  return { ok: true, digest: digests.join(), headers, count: images };
}

const notAnImage = (param: string): Rejection =>
  rejection(`Invalid image in '${param}': expected PNG, JPEG, GIF or WebP.`, { param, code: 'invalid_image_file' });
