/** A stretch of a transcript; times in seconds. */
export interface Stretch {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** What was said, and when: as if every character took the same time. */
export interface Transcript {
  readonly text: string;
  readonly seconds: number;
  readonly words: readonly Stretch[];
  /** Sentences, or so many words of one. */
  readonly segments: readonly Stretch[];
}

const WORDS_PER_SEGMENT = 12;

export function transcriptOf(text: string, seconds: number): Transcript {
  const said = text.trim();
  const timeAt = (character: number): number => Math.round(((character / Math.max(1, said.length)) * seconds + Number.EPSILON) * 100) / 100;
  const words = [...said.matchAll(/\S+/gu)].map((match) => ({
    text: match[0],
    start: timeAt(match.index),
    end: timeAt(match.index + match[0].length),
  }));
  return { text: said, seconds, words, segments: segmentsOf(words) };
}

function segmentsOf(words: readonly Stretch[]): Stretch[] {
  const segments: Stretch[] = [];
  let open: Stretch[] = [];
  for (const [index, word] of words.entries()) {
    open.push(word);
    const ends = /[.!?。！？]["')\]]*$/u.test(word.text) || open.length === WORDS_PER_SEGMENT || index === words.length - 1;
    if (!ends) continue;
    segments.push({ text: open.map(({ text }) => text).join(' '), start: open[0]?.start ?? 0, end: word.end });
    open = [];
  }
  return segments;
}

/** `00:01:02,345`, with a point in place of the comma for WebVTT. */
export function timestamp(seconds: number, separator: ',' | '.'): string {
  const milliseconds = Math.round(seconds * 1000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const clock = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60].map(two).join(':');
  return `${clock}${separator}${String(milliseconds % 1000).padStart(3, '0')}`;
}
