import type pg from 'pg';
import { asked, type Filter, OWNER, type Question, type Timed } from './people-question.ts';

const QUESTIONS = 300;
const SEED = 20_261_121;
const LONGEST_WORD = 14;
/** Where words are looked for, a page looks at everybody before it: up to here the limit is promised. */
const DEEPEST_WITH_WORDS = 10_000;
const DEEPEST = 1_000_000;

/** Every value that people have in a dimension, and one that nobody has. */
const VALUES = {
  status: ['new', 'contacted', 'qualified', 'customer', 'lost', 'unsubscribed', 'bounced'],
  source: ['import', 'user', 'registration', 'invite', 'client_request', 'manual'],
  event_slug: [...Array.from({ length: 10 }, (_, n) => `event-${n * 5}`), 'event-7'],
  owner: ['none', OWNER],
  client_type: ['startup', 'enterprise', 'individual', 'none'],
  plan_tier: ['free', 'pro', 'scale', 'enterprise', 'none'],
} as const;

/**
 * Some hundred questions of which nobody chose one: each dimension is asked for or not, words are pieces of what somebody's text holds or of
 * nobody's, and the page is anywhere. The same ones in each run.
 * @returns the median of the slowest, in ms
 */
export async function sweep(
  pool: pg.Pool,
  print: (text: string) => void,
  timesOf: (question: Question) => Promise<Timed>,
): Promise<number> {
  const random = mulberry32(SEED);
  const texts = await someTexts(pool, random);
  const found: (Timed & { question: Question })[] = [];
  for (let n = 0; n < QUESTIONS; n++) {
    const question = questionOf(random, texts);
    found.push({ question, ...(await timesOf(question)) });
  }
  found.sort((a, b) => a.median - b.median);
  const at = (share: number): string => (found[Math.min(QUESTIONS - 1, Math.floor(QUESTIONS * share))]?.median ?? Number.NaN).toFixed(1);
  print(`\n${QUESTIONS} random questions (seed ${SEED}): median ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms. The slowest ten:`);
  for (const { question, median, total } of found.slice(-10).reverse())
    print(`${asked(question).padEnd(140)}${total.padStart(10)}${median.toFixed(1).padStart(13)}`);
  print('');
  return found.at(-1)?.median ?? Number.NaN;
}

function questionOf(random: () => number, texts: readonly string[]): Question {
  const one = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  const filter: Record<string, string | undefined> = {};
  // As many dimensions as it may be: none, some, all.
  const share = random();
  for (const [dimension, values] of Object.entries(VALUES)) if (random() < share) filter[dimension] = one<string>(values);
  const consent = random() < share ? one(['given', 'claimed', 'none'] as const) : undefined;
  const words = Array.from({ length: Math.floor(random() * 4) }, () => pieceOf(one(texts) ?? '', random)).filter((word) => word !== '');
  const isDeep = random() < 0.5;
  const offset = isDeep ? Math.floor(random() * (words.length > 0 ? DEEPEST_WITH_WORDS : DEEPEST)) : 0;
  const question: Filter = { ...filter, ...(consent && { consent }), ...(words.length > 0 && { q: words.join(' ') }) };
  return { filter: question, offset };
}

/** A piece of a word; one in ten was typed wrong, so that nobody has it. */
function pieceOf(text: string, random: () => number): string {
  const words = text.split(' ');
  const word = words[Math.floor(random() * words.length)] ?? '';
  const from = Math.floor(random() * word.length);
  const piece = word.slice(from, from + 1 + Math.floor(random() * LONGEST_WORD));
  if (!/[a-z0-9]/.test(piece)) return '';
  return random() < 0.1 ? `${piece}xq` : piece;
}

async function someTexts(pool: pg.Pool, random: () => number): Promise<string[]> {
  const numbers = Array.from({ length: 200 }, () => Math.ceil(random() * DEEPEST));
  const { rows } = await pool.query<{ search_text: string }>('select search_text from people where n = any($1::bigint[]) order by n', [
    numbers,
  ]);
  return rows.map(({ search_text }) => search_text);
}

/** The same numbers from the same seed, as Mulberry32 makes them. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
