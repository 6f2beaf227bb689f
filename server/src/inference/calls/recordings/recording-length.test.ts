import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flacClock, mpegClock } from './packets.ts';
import { recordingLength } from './recording-length.ts';

/** A tone of a second, at 16 kHz (8 kHz in ALAC and ADPCM), as ffmpeg 5.1 writes it. */
const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'fixtures', name));
const mostOf = (bytes: Buffer): number => recordingLength(bytes)?.mostSeconds ?? Number.NaN;

const FIXTURES = [
  'one-second.m4a',
  'fragmented.mp4',
  'alac.m4a',
  'one-second.aac',
  'one-second.flac',
  'vbr.mp3',
  'opus.ogg',
  'vorbis.ogg',
  'speex.ogg',
  'flac.ogg',
  'opus.webm',
  'vorbis.webm',
  'mp3.mkv',
] as const;

/** Encoders put some silence before the sound, and fill the last frame. */
const PADDING_SECONDS = 0.12;

interface WavHead {
  readonly rate?: number;
  readonly tag?: number;
  readonly bits?: number;
  readonly byteRate?: number;
  readonly block?: number;
}

const pcm = (
  seconds: number,
  { rate = 8_000, tag = 1, bits = 16, byteRate = 0xffffffff, block = 0xffff, stated }: WavHead & { stated?: number } = {},
): Buffer => {
  const head = Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0', 'latin1');
  const format = Buffer.alloc(16);
  format.writeUInt16LE(tag, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(rate, 4);
  // They are not believed where they make it shorter.
  format.writeUInt32LE(byteRate, 8);
  format.writeUInt16LE(block, 12);
  format.writeUInt16LE(bits, 14);
  const data = Buffer.from('data\0\0\0\0', 'latin1');
  data.writeUInt32LE(stated ?? (seconds * rate * bits) / 8, 4);
  return Buffer.concat([head, format, data, Buffer.alloc((seconds * rate * bits) / 8)]);
};

/** With the longer head of more than two channels or 16 bits. */
function extensible(file: Buffer, { tag, validBits }: { readonly tag: number; readonly validBits: number }): Buffer {
  const more = Buffer.alloc(24);
  more.writeUInt16LE(22, 0);
  more.writeUInt16LE(validBits, 2);
  more.writeUInt16LE(tag, 8);
  const head = Buffer.from(file.subarray(0, 36));
  head.writeUInt32LE(16 + more.length, 16);
  return Buffer.concat([head, more, file.subarray(36)]);
}

/** A page of Ogg without its checksum, as a demuxer takes it that does not look at it. */
function oggPage(packets: readonly Buffer[], { flags = 0, granule = 0, serial = 1 } = {}): Buffer {
  const head = Buffer.alloc(27 + packets.length);
  head.write('OggS', 'latin1');
  head[5] = flags;
  head.writeBigInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(serial, 14);
  head[26] = packets.length;
  for (const [index, { length }] of packets.entries()) head[27 + index] = length;
  return Buffer.concat([head, ...packets]);
}
const OPUS_HEAD = oggPage([Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1')], { flags: 2 });

/** A copy with 32 bits written behind a mark, each time it is there. */
function patched(bytes: Buffer, mark: string, offset: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  let found = 0;
  for (let at = copy.indexOf(mark, 0, 'latin1'); at >= 0; at = copy.indexOf(mark, at + 1, 'latin1'), found += 1)
    copy.writeUInt32BE(value, at + mark.length + offset);
  expect(found, `${mark} is there`).toBeGreaterThan(0);
  return copy;
}

describe('the length of a recording', () => {
  test.each(FIXTURES)('is counted in the frames of %s', (name) => {
    const length = recordingLength(fixture(name));
    expect(length?.seconds).toBeGreaterThanOrEqual(1 - 1e-6);
    expect(length?.seconds).toBeLessThan(1 + PADDING_SECONDS);
    expect(length?.mostSeconds).toBeGreaterThanOrEqual(length?.seconds ?? 0);
    expect(length?.mostSeconds).toBeLessThan(1 + PADDING_SECONDS);
  });

  test.each(FIXTURES)('is found behind a tag with a picture: %s', (name) => {
    const tag = Buffer.alloc(10 + 3000, 0xff);
    tag.write('ID3\x04\0\0\0\0\x17\x38', 'latin1');
    expect(recordingLength(Buffer.concat([tag, fixture(name)]))).toEqual(recordingLength(fixture(name)));
  });

  test.each([
    [16, 1],
    [32, 3],
    [8, 7],
  ])('of uncompressed audio of %i bits (format %i) follows from its bytes', (bits, tag) => {
    expect(recordingLength(pcm(3, { bits, tag }))?.mostSeconds).toBeCloseTo(3, 6);
    expect(recordingLength(pcm(3, { bits, tag, stated: 0xffffffff }))?.seconds).toBeCloseTo(3, 6);
  });

  test('of AMR is 20 ms a frame, silence of a byte included', () => {
    const spoken = Buffer.concat(Array.from({ length: 50 }, () => Buffer.concat([Buffer.of(0x3c), Buffer.alloc(31)])));
    expect(mostOf(Buffer.concat([Buffer.from('#!AMR\n'), spoken]))).toBeCloseTo(1, 6);
    expect(mostOf(Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(5_000, 0x7c)]))).toBeCloseTo(100, 6);
    expect(mostOf(Buffer.concat([Buffer.from('#!AMR-WB\n'), Buffer.alloc(50, 0x7c)]))).toBeCloseTo(1, 6);
  });
});

describe('a file of few bytes', () => {
  test('has all that its packets of Opus can say: 120 ms in two bytes', () => {
    const silence = oggPage(Array.from({ length: 250 }, () => Buffer.of(0xfb, 6)));
    const file = Buffer.concat([OPUS_HEAD, ...Array.from({ length: 100 }, () => silence)]);
    expect(file.length).toBeLessThan(80_000);
    expect(mostOf(file)).toBeCloseTo(3_000, 3);
  });

  test('has every frame of FLAC that tells of silence', () => {
    const tone = fixture('one-second.flac');
    // The last frame is the shortest; its number does not matter to a decoder.
    const frame = tone.subarray(tone.lastIndexOf(Buffer.from('fff8', 'hex')));
    const once = mostOf(Buffer.concat([tone, frame])) - 1;
    expect(once).toBeGreaterThan(0);
    expect(mostOf(Buffer.concat([tone, ...Array.from({ length: 400 }, () => frame)]))).toBeCloseTo(1 + 400 * once, 3);
  });

  test('has uncompressed audio at the rate of a sample a second', () => {
    expect(mostOf(pcm(5_000, { rate: 1, bits: 8 }))).toBeCloseTo(5_000, 3);
  });
});

describe('a header that lies cannot make it shorter', () => {
  const [m4a, fragmented, flac, ogg, webm, mp3] = [
    'one-second.m4a',
    'fragmented.mp4',
    'one-second.flac',
    'opus.ogg',
    'opus.webm',
    'vbr.mp3',
  ].map((name) => fixture(name)) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
  const withGranules = (granule: bigint) => {
    const copy = Buffer.from(ogg);
    for (let at = copy.indexOf('OggS'); at >= 0; at = copy.indexOf('OggS', at + 1)) copy.writeBigInt64LE(granule, at + 6);
    return copy;
  };
  const lies: [string, Buffer][] = [
    ['the movie’s duration', patched(m4a, 'mvhd', 16, 1)],
    ['the track’s duration', patched(m4a, 'mdhd', 16, 1)],
    ['the times of its packets', patched(m4a, 'stts', 12, 1)],
    ['units of time that are tiny', patched(m4a, 'mdhd', 12, 0x7fffffff)],
    ['the edits', patched(m4a, 'elst', 8, 1)],
    ['the times of fragments', patched(fragmented, 'tfhd', 8, 1)],
    ['the samples of FLAC', Buffer.concat([flac.subarray(0, 21), Buffer.of(0, 0, 0, 0, 1), flac.subarray(26)])],
    ['the granules of Ogg', withGranules(1n)],
    ['granules below zero', withGranules(-1n)],
    ['the duration of WebM', patched(webm, '\x44\x89\x88', 0, 0)],
    ['the frames of Xing', patched(mp3, 'Xing', 4, 1)],
    ['the size of the samples', pcm(1, { stated: 2 })],
  ];
  test.each(lies)('%s', (_, file) => {
    expect(mostOf(file)).toBeGreaterThanOrEqual(1 - 1e-6);
  });

  test.each([
    ['the movie’s duration', patched(m4a, 'mvhd', 16, 3_600_000), 3_600],
    ['edits that play a part again', patched(m4a, 'elst', 8, 3_600_000), 3_600],
    ['the samples of FLAC', Buffer.concat([flac.subarray(0, 22), Buffer.from('03700000', 'hex'), flac.subarray(26)]), 3_600],
    ['the frames of Xing', patched(mp3, 'Xing', 4, 100_000), 3_600],
    ['the blocks of WAV', pcm(1_000, { bits: 32, block: 1 }), 4_000],
    ['the byte rate of WAV', pcm(1_000, { byteRate: 4_000 }), 4_000],
    ['the bytes of µ-law in WAV', pcm(1_000, { tag: 7, bits: 64 }), 8_000],
    ['the bytes of A-law in WAV', pcm(1_000, { tag: 6, bits: 32 }), 4_000],
    ['the bits that count in WAV', extensible(pcm(1_000, { tag: 0xfffe, bits: 64 }), { tag: 1, validBits: 8 }), 8_000],
  ])('and one that claims more makes it longer: %s', (_, file, seconds) => {
    expect(mostOf(file)).toBeGreaterThanOrEqual(seconds);
  });
});

describe('what a decoder would find', () => {
  test.each(['opus.ogg', 'vorbis.ogg', 'speex.ogg', 'flac.ogg', 'one-second.aac', 'vbr.mp3'])(
    'is found in files that follow one another: %s',
    (name) => {
      const one = fixture(name);
      expect(mostOf(Buffer.concat([one, one, one]))).toBeGreaterThanOrEqual(3 * (recordingLength(one)?.seconds ?? 0) - 0.15);
    },
  );

  test('is found inside of a page that is damaged', () => {
    const hidden = oggPage(Array.from({ length: 200 }, () => Buffer.of(0xfb, 6)));
    const around = oggPage([hidden.subarray(0, 255), hidden.subarray(255, 510), hidden.subarray(510)].map((one) => one));
    expect(mostOf(Buffer.concat([OPUS_HEAD, around]))).toBeGreaterThanOrEqual(24);
  });

  test('is found behind a damaged part of WebM', () => {
    const webm = fixture('opus.webm');
    const cluster = webm.indexOf(Buffer.from('1f43b675', 'hex'));
    const [head, body] = [webm.subarray(0, cluster), webm.subarray(cluster)];
    expect(mostOf(Buffer.concat([head, Buffer.alloc(50), body, Buffer.alloc(50), body]))).toBeGreaterThanOrEqual(2);
  });
});

describe('what cannot be read as a recording', () => {
  test.each([
    ['a text', Buffer.from('# README\nExample data')],
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(10_000)],
    ['WAV whose bytes tell no length', fixture('adpcm.wav')],
    ['WAV without samples', pcm(1).subarray(0, 30)],
    ['WAV of samples that are wider than any', pcm(1, { bits: 65_528 })],
    ['a movie without sound', patched(fixture('one-second.m4a'), 'hdlr', 8, 0x76696465)],
    ['Ogg of an unknown codec', oggPage([Buffer.from('unknown')], { flags: 2 })],
    ['WebM of an unknown codec', Buffer.from(fixture('opus.webm').toString('latin1').replace('A_OPUS', 'A_OTHR'), 'latin1')],
  ])('has no length: %s', (_, bytes) => {
    expect(recordingLength(bytes)).toBeUndefined();
  });

  test('is never a fault: any bytes behind any beginning', () => {
    const beginnings = [...FIXTURES.map((name) => fixture(name)), pcm(1), Buffer.from('#!AMR\n'), Buffer.from('ID3')];
    fc.assert(
      fc.property(fc.constantFrom(...beginnings), fc.nat(4_000), fc.uint8Array({ maxLength: 300 }), (bytes, at, noise) => {
        const length = recordingLength(Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at + noise.length)]));
        if (length) expect(length.mostSeconds).toBeGreaterThanOrEqual(length.seconds - 1e-9);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    [
      'pages inside of pages',
      Buffer.concat([OPUS_HEAD, Buffer.alloc(2_000_000, Buffer.concat([oggPage([]).subarray(0, 26), Buffer.of(255)]))]),
    ],
    ['ones', Buffer.concat([fixture('one-second.flac').subarray(0, 86), Buffer.alloc(2_000_000, 0xff)])],
    ['boxes inside of boxes', Buffer.alloc(2_000_000, Buffer.from('0000ffffmoov', 'latin1'))],
    [
      'heads of clusters',
      Buffer.concat([fixture('opus.webm').subarray(0, 300), Buffer.alloc(2_000_000, Buffer.from('1f43b67500', 'hex'))]),
    ],
  ])('takes no longer than its size: %s', (_, bytes) => {
    const before = process.threadCpuUsage();
    recordingLength(bytes);
    // A quarter of what is linear takes on a slow machine; what is not takes minutes.
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(3_000);
  });
});

/** A frame of MPEG-2.5, layer III, at 8 kHz: 72 ms. Its rate is one of the standard's fifteen. */
function lowFrame(rate: number, kilobits: number): Buffer {
  const frame = Buffer.alloc(kilobits * 9);
  frame.writeUInt32BE(0xffe30000 + (rate << 12) + (2 << 10));
  return frame;
}

test('short frames that the head of a long one hides are held, in a stream and in a packet', () => {
  const short = lowFrame(1, 8);
  const hiding = Buffer.concat([lowFrame(14, 160).subarray(0, 4), Buffer.alloc(3), ...Array.from({ length: 19 }, () => short)]);
  const file = Buffer.concat(Array.from({ length: 50 }, () => Buffer.concat([hiding, Buffer.alloc(1_440 - hiding.length + 1)])));
  expect(recordingLength(file)?.seconds).toBeLessThan(8);
  expect(mostOf(file)).toBeGreaterThanOrEqual(50 * 19 * 0.072);
  const packet = Buffer.concat([short, short, short]);
  expect(mpegClock.seconds(packet)).toBeCloseTo(3 * 0.072, 9);
});

test('all frames in a packet of FLAC are held', () => {
  const file = fixture('one-second.flac');
  let frames = 8;
  for (let isLast = false; !isLast; ) {
    const head = file.readUInt32BE(frames - 4);
    isLast = head >>> 31 === 1;
    frames += (head & 0xffffff) + 4;
  }
  const packet = file.subarray(frames - 4);
  expect(flacClock(file.subarray(8, 42))?.seconds(packet)).toBeCloseTo(1, 2);
});
