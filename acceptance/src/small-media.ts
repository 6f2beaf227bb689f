/** A picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const RATE_HZ = 8_000;

/** A second of silence, as a WAV file of 16 bits and one channel. */
export const SILENCE = Buffer.alloc(44 + 2 * RATE_HZ);
SILENCE.write('RIFF', 0);
SILENCE.writeUInt32LE(SILENCE.length - 8, 4);
SILENCE.write('WAVEfmt ', 8);
SILENCE.writeUInt32LE(16, 16);
SILENCE.writeUInt16LE(1, 20);
SILENCE.writeUInt16LE(1, 22);
SILENCE.writeUInt32LE(RATE_HZ, 24);
SILENCE.writeUInt32LE(2 * RATE_HZ, 28);
SILENCE.writeUInt16LE(2, 32);
SILENCE.writeUInt16LE(16, 34);
SILENCE.write('data', 36);
SILENCE.writeUInt32LE(2 * RATE_HZ, 40);
