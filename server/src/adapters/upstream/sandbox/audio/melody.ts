import { hash } from 'node:crypto';

/** Mono, 16 bits a sample. */
export const SAMPLE_RATE = 24_000;
/** Notes last so many samples, or a multiple: one MP3 frame at this rate, 24 ms. */
export const UNIT_SAMPLES = 576;

const CHARACTERS_PER_SECOND = 15;
const UNITS_PER_SECOND = SAMPLE_RATE / UNIT_SAMPLES;
/** Lines of MP3's spectrum, about a pentatonic scale from 177 Hz up. */
const LINES = [8, 9, 10, 12, 14, 16] as const;
const AMPLITUDE = 3000;
/** A note swells and fades for so many samples, so that it does not click. */
const EDGE_SAMPLES = 240;

/** How a word sounds: one soft tone, and a moment of silence at its end. */
export interface Note {
  /** Where in the spectrum its tone is; its frequency is {@link frequencyOf}. */
  readonly line: number;
  /** Of the first unit among those of the melody. */
  readonly firstUnit: number;
  readonly units: number;
}

/** A word's tone, and how long it is, as a voice would take for it. Never empty. */
export function melodyOf(text: string, voice: string, speed: number): Note[] {
  const notes: Note[] = [];
  let characters = 0;
  let units = 0;
  for (const [word] of text.matchAll(/\s*\S{1,12}\s*/gu)) {
    characters += word.length;
    const end = Math.max(1, Math.round((characters / CHARACTERS_PER_SECOND / speed) * UNITS_PER_SECOND));
    if (end === units) continue;
    notes.push({ line: lineOf(word.trim(), voice), firstUnit: units, units: end - units });
    units = end;
  }
  return notes.length > 0 ? notes : [{ line: LINES[0], firstUnit: 0, units: 1 }];
}

const lineOf = (word: string, voice: string): number => {
  const [byte = 0] = hash('sha256', `${voice} ${word.toLowerCase()}`, 'buffer');
  return LINES[byte % LINES.length] ?? LINES[0];
};

export const unitsOf = (melody: readonly Note[]): number => melody.reduce((sum, { units }) => sum + units, 0);

/** Hertz: the middle of the line. */
const frequencyOf = ({ line }: Note): number => ((line + 0.5) * SAMPLE_RATE) / (2 * UNIT_SAMPLES);

/** Units that sound; the last is silent, where there is more than one. */
export const soundingUnits = ({ units }: Note): number => Math.max(1, units - 1);

/** The samples of a note. */
export function samplesOf(note: Note): Int16Array {
  const samples = new Int16Array(note.units * UNIT_SAMPLES);
  const length = soundingUnits(note) * UNIT_SAMPLES;
  const step = (2 * Math.PI * frequencyOf(note)) / SAMPLE_RATE;
  for (let at = 0; at < length; at += 1) {
    const swell = Math.min(1, at / EDGE_SAMPLES, (length - at) / EDGE_SAMPLES);
    samples[at] = AMPLITUDE * swell * Math.sin(step * at);
  }
  return samples;
}
