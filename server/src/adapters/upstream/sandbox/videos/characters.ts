import { hash } from 'node:crypto';
import { type Composer, jsonBody, unixSeconds } from '../composition.ts';
import { headOf } from '../files.ts';
import { rejection } from '../rejection.ts';

const PREFIX = 'char_';
const DIGITS = 24;
const SUM_DIGITS = 8;

/** What proves that an id was given out here: nobody keeps them. */
const sumOf = (digits: string): string => hash('sha256', `character ${digits}`, 'hex').slice(0, SUM_DIGITS);

/** Whether the sandbox has given out this id. */
export function isCharacterId(id: string): boolean {
  const digits = id.slice(PREFIX.length, -SUM_DIGITS);
  return id.startsWith(PREFIX) && digits.length === DIGITS && id.endsWith(sumOf(digits));
}

/** Takes a character from a video: the same name and video make the same one. */
export const composeCharacter: Composer<'/v1/videos/characters'> = async ({ request, files = [] }, { clock }) => {
  const [video] = files;
  const head = video && (await headOf(video));
  if (!head || !isVideo(head))
    return rejection("Invalid video in 'video': expected MP4, QuickTime or WebM.", { param: 'video', code: 'invalid_video_file' });
  const digits = hash('sha256', JSON.stringify([request.name, hash('sha256', head, 'hex')]), 'hex').slice(0, DIGITS);
  return jsonBody({ id: PREFIX + digits + sumOf(digits), created_at: unixSeconds(clock), name: request.name });
};

const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);

/** By the first bytes: the `ftyp` box of ISO/IEC 14496-12, or the header of Matroska and WebM. */
const isVideo = (head: Buffer): boolean => head.toString('latin1', 4, 8) === 'ftyp' || head.subarray(0, 4).equals(EBML);
