import { flac } from './flac.ts';
import { adts, amr, mpegAudio } from './frame-streams.ts';
import type { RecordingLength } from './length.ts';
import { matroska } from './matroska.ts';
import { mp4 } from './mp4.ts';
import { ogg } from './ogg.ts';
import { wav } from './wav.ts';

/** Longer than any recording: what is above comes of fields that say nothing. */
const LONGEST_SECONDS = 1e9;

/**
 * The length of FLAC, MP3, AAC, MP4, M4A, Ogg, WebM, Matroska, WAV and AMR, counted frame by frame. What headers claim can only add to it.
 * Undefined for everything else: of what cannot be read no length is a bound.
 */
export function recordingLength(file: Buffer): RecordingLength | undefined {
  const bytes = withoutId3(file);
  try {
    const length = readers(bytes);
    if (!length || !(length.mostSeconds >= 0)) return undefined;
    return { seconds: toMicroseconds(length.seconds), mostSeconds: toMicroseconds(length.mostSeconds) };
  } catch (error) {
    // A field beyond the end: nothing that could be decoded.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Sums of many frames are off by less than that; a whole number of seconds is to be one. */
const toMicroseconds = (seconds: number): number => Math.round(Math.min(seconds, LONGEST_SECONDS) * 1e6) / 1e6;

function readers(bytes: Buffer): RecordingLength | undefined {
  const magic = bytes.toString('latin1', 0, 12);
  if (/^(RIFF|RF64)....WAVE/s.test(magic)) return wav(bytes);
  if (magic.startsWith('fLaC')) return flac(bytes);
  if (magic.startsWith('OggS')) return ogg(bytes);
  if (/^....(ftyp|moov|moof|mdat|free|skip|wide|styp)/s.test(magic)) return mp4(bytes);
  if (magic.startsWith('\x1a\x45\xdf\xa3')) return matroska(bytes);
  if (magic.startsWith('#!AMR')) return amr(bytes);
  return adts(bytes) ?? mpegAudio(bytes);
}

/** A tag may stand before any format; its length is written in 7 bits a byte. */
function withoutId3(file: Buffer): Buffer {
  let bytes = file;
  while (bytes.length > 10 && bytes.toString('latin1', 0, 3) === 'ID3') {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(6, 10);
    bytes = bytes.subarray(10 + (((a & 127) << 21) | ((b & 127) << 14) | ((c & 127) << 7) | (d & 127)));
  }
  return bytes;
}
