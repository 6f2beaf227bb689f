import type { PeopleFilter } from '@tallygate/contract';
import type { PersonRow } from './person-row.ts';

const SLOTS = 1_024;
const GRAM = 3;

/** The two terms of a trigram, both of which everybody has who has the trigram, and some others. */
export type Gram = readonly [string, string];

/** What is looked for: terms that a person has to have, and words that their text has to hold. */
export interface Wanted {
  readonly terms: readonly string[];
  readonly words: readonly string[];
  /** The trigrams of each word: a text with the word has them all. */
  readonly grams: readonly (readonly Gram[])[];
}

/** What people are found by, of a person. */
export type Described = Pick<
  PersonRow,
  | (
      | 'status'
      | 'sources'
      | 'event_slugs'
      | 'tags'
      | 'owner'
      | 'client_type'
      | 'plan_tier'
      | 'unsubscribed_at'
      | 'bounced_at'
      | 'search_text'
    )
  | ('consent_given_at' | 'consent_confirmed_at')
>;

/** The columns of `Described`. */
export const DESCRIBED = [
  ...(['status', 'sources', 'event_slugs', 'tags', 'owner', 'client_type', 'plan_tier'] as const),
  ...(['unsubscribed_at', 'bounced_at', 'search_text', 'consent_given_at', 'consent_confirmed_at'] as const),
] as const;

/** Every term of a person: what they are, how the words of their text begin, and the trigrams of the text, hashed. */
export function termsOf(person: Described): Set<string> {
  const terms = new Set(['all', `status:${person.status}`]);
  if (person.unsubscribed_at) terms.add('status:unsubscribed');
  if (person.bounced_at) terms.add('status:bounced');
  for (const source of person.sources) terms.add(`source:${source}`);
  for (const slug of person.event_slugs) terms.add(`event:${slug}`);
  for (const tag of person.tags) terms.add(`tag:${tag}`);
  terms.add(`owner:${person.owner ?? 'none'}`);
  terms.add(`client:${person.client_type ?? 'none'}`);
  terms.add(`plan:${person.plan_tier ?? 'none'}`);
  terms.add(`consent:${person.consent_confirmed_at ? 'given' : 'none'}`);
  if (person.consent_given_at && !person.consent_confirmed_at) terms.add('consent:claimed');
  for (const word of wordsIn(person.search_text)) {
    const [first = '', second] = word;
    terms.add(`begins:${first}`);
    if (second !== undefined) terms.add(`begins:${first}${second}`);
  }
  for (const piece of person.search_text.split(' ')) for (const slot of gramsOf(piece).flat()) terms.add(slot);
  return terms;
}

/** A term without matches, for a search without searchable words, which must never return everybody. */
const NOBODY = 'none';

/** @param q folded as the people's text is */
export function wantedBy(filter: PeopleFilter, q: string): Wanted {
  const terms = new Set<string>();
  const words: string[] = [];
  const { status, source, event_slug, owner, client_type, plan_tier, consent } = filter;
  const facets = { status, source, event: event_slug, owner, client: client_type, plan: plan_tier, consent };
  for (const [name, value] of Object.entries(facets)) if (value !== undefined) terms.add(`${name}:${value}`);
  for (const word of q.split(' ')) {
    if (/^#./.test(word)) terms.add(`tag:${word.slice(1)}`);
    else if ([...word].length < GRAM) for (const beginning of wordsIn(word)) terms.add(`begins:${beginning}`);
    else words.push(word);
  }
  if (filter.q && words.length === 0 && ![...terms].some((term) => /^(tag|begins):/.test(term))) terms.add(NOBODY);
  if (terms.size === 0 && words.length === 0) terms.add('all');
  return { terms: [...terms], words, grams: words.map(gramsOf) };
}

/** Whether a person is one of those wanted. */
export const fits = (person: Described, { terms, words }: Wanted): boolean => {
  if (!words.every((word) => person.search_text.includes(word))) return false;
  const own = termsOf(person);
  return terms.every((term) => own.has(term));
};

const wordsIn = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');

/** Two slots for each trigram: one alone would make a rare trigram look like the common one it shares the slot with. */
function gramsOf(piece: string): Gram[] {
  const grams: Gram[] = [];
  for (let from = 0; from + GRAM <= piece.length; from++) {
    const mixed = hashOf(piece.slice(from, from + GRAM));
    grams.push([`gram:${mixed % SLOTS}`, `gram:${(mixed >>> 16) % SLOTS}`]);
  }
  return grams;
}

/** FNV-1a with the finish of MurmurHash3, so that every bit depends on every character. Its values are stored in people_chunks: never change it. */
function hashOf(gram: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < gram.length; at++) hash = Math.imul(hash ^ gram.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
