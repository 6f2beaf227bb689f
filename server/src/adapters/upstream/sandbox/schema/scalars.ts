import { formatNamed, SAMPLES_PER_FORMAT } from './formats.ts';
import { type Keywords, numberAt } from './json-schema.ts';
import { SchemaRefusal } from './refusal.ts';
import { lengthOf, type SchemaDocument } from './schema-document.ts';

const LONGEST_TEXT = 100_000;
const VARIANTS = 100;
const PATTERN_PICKS = 26;
const PATTERN_EXTRAS = 12;

/** Text to try, the most natural first. What does not fit the schema after all is sorted out by whoever asked. */
export function* strings(keywords: Keywords, name: string, document: SchemaDocument): Generator<string> {
  const least = numberAt(keywords, 'minLength') ?? 0;
  const most = numberAt(keywords, 'maxLength') ?? Infinity;
  if (least > LONGEST_TEXT) throw new SchemaRefusal(`text of ${least} characters is longer than the sandbox makes`);
  const { pattern } = keywords;
  const format = formatNamed(keywords['format']);
  if (format) {
    for (let index = 0; index < SAMPLES_PER_FORMAT; index += 1) yield format.sample(index);
    // Paths and addresses grow at their end; what does not grow is sorted out with the rest.
    const short = format.sample(0);
    yield `${short}${'a'.repeat(Math.max(0, least - short.length))}`;
  }
  if (typeof pattern === 'string') yield* patternStrings(pattern, least, most, document);
  for (let index = 0; index < VARIANTS; index += 1) {
    document.work.spend(least / 10);
    yield fit(`${name ? `sandbox ${name}` : 'sandbox'}`, index, least, most);
  }
}

/** Text of the pattern: as short as it gets, then longer, then with other characters; then with room around it to reach a length. */
function* patternStrings(source: string, least: number, most: number, document: SchemaDocument): Generator<string> {
  const pattern = document.pattern(source);
  const fits = (text: string) => {
    const length = lengthOf(text);
    return length >= least && length <= most;
  };
  for (let pick = 0; pick < PATTERN_PICKS; pick += 1) {
    const longest = Math.max(least, PATTERN_EXTRAS);
    let previous: string | undefined;
    for (let extra = 0; extra <= longest; extra += extra < 64 ? 1 : 1 + Math.floor((longest - extra) / 8)) {
      const text = pattern.sample(extra, pick, document.work);
      // Nothing in the pattern repeats, so more of it is the same again.
      if (text === previous) break;
      previous = text;
      if (fits(text)) yield text;
      else if (lengthOf(text) > most) break;
    }
    const core = pattern.sample(0, pick, document.work);
    const room = 'a'.repeat(Math.max(0, least - lengthOf(core)));
    yield core + room;
    yield `${core}${room}${pick}`;
    yield room + core;
  }
}

/** `text` cut or filled to the length asked for; a number at its end tells one from another. */
function fit(text: string, index: number, least: number, most: number): string {
  const mark = index === 0 ? '' : ` ${index}`;
  const room = Math.max(0, Math.min(most, LONGEST_TEXT) - mark.length);
  const start = Array.from(text).slice(0, room).join('');
  const filled = `${start}${'.'.repeat(Math.max(0, least - lengthOf(start) - mark.length))}${mark}`;
  // Too short for the mark with its blank: single characters then.
  return lengthOf(filled) <= most
    ? filled
    : String.fromCodePoint(0x61 + (index % 26)).repeat(Math.max(0, Math.min(most, Math.max(least, 1))));
}

/** Numbers to try: 1 where it fits, else what is nearest to it. */
export function* numbers(keywords: Keywords): Generator<number> {
  // JSON has no infinity, and one zero.
  for (const value of candidates(keywords)) if (Number.isFinite(value)) yield value + 0;
}

function* candidates(keywords: Keywords): Generator<number> {
  const lowest = Math.max(numberAt(keywords, 'minimum') ?? -Infinity, numberAt(keywords, 'exclusiveMinimum') ?? -Infinity);
  const highest = Math.min(numberAt(keywords, 'maximum') ?? Infinity, numberAt(keywords, 'exclusiveMaximum') ?? Infinity);
  const start = Math.min(Math.max(1, lowest), highest);
  const step = numberAt(keywords, 'multipleOf');
  if (step !== undefined && step > 0) {
    yield* multiplesNear(start, step);
    return;
  }
  yield start;
  for (let index = 1; index < VARIANTS; index += 1) {
    yield Math.floor(start) + index;
    yield Math.ceil(start) - index;
  }
  // Between two bounds that no integer lies between.
  for (const part of [2, 3, 4, 5, 7, 9]) yield lowest + (highest - lowest) / part;
}

function* multiplesNear(start: number, step: number): Generator<number> {
  const nearest = Math.ceil(start / step);
  for (let index = 0; index < VARIANTS; index += 1) {
    for (const factor of index === 0 ? [nearest] : [nearest + index, nearest - index]) {
      const multiple = factor * step;
      yield multiple;
      // 3 × 0.1 is not 0.3, and only one of the two counts as a multiple of 0.1.
      yield Number(multiple.toPrecision(12));
    }
  }
}
