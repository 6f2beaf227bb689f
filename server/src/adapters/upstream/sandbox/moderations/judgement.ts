import { hash } from 'node:crypto';

export type InputType = 'text' | 'image';

/** OpenAI's categories: the words at which the sandbox flags one, and whether it looks at images. */
const CATEGORIES = {
  harassment: { words: /\b(?:harass\w*|bully(?:ing)?|idiots?|stupid|loser)\b/i, images: false },
  'harassment/threatening': { words: /\b(?:i will (?:hurt|find|kill) you|you will regret)\b/i, images: false },
  hate: { words: /\b(?:hate (?:speech|group|crime)s?|racist|racism|bigot\w*)\b/i, images: false },
  'hate/threatening': { words: /\b(?:lynch\w*|genocide|exterminate)\b/i, images: false },
  illicit: { words: /\b(?:shoplift\w*|counterfeit\w*|launder(?:ing)? money|buy (?:drugs|cocaine))\b/i, images: false },
  'illicit/violent': { words: /\b(?:build a bomb|pipe bomb|make a weapon)\b/i, images: false },
  'self-harm': { words: /\b(?:self-?harm|suicid(?:e|al)|cut myself)\b/i, images: true },
  'self-harm/intent': { words: /\b(?:i want to die|kill myself|end my life)\b/i, images: true },
  'self-harm/instructions': { words: /\bhow to (?:kill myself|commit suicide|self-?harm)\b/i, images: true },
  sexual: { words: /\b(?:porn\w*|explicit sex|nudes?|erotic\w*)\b/i, images: true },
  'sexual/minors': { words: /\bsexual\b.{0,40}\b(?:minors?|child(?:ren)?)\b/i, images: false },
  violence: { words: /\b(?:violen(?:ce|t)|kill(?:s|ed|ing)?|murder\w*|stab\w*|shoot(?:ing)?|attack(?:s|ed)?)\b/i, images: true },
  'violence/graphic': { words: /\b(?:gore|gory|dismember\w*|blood(?:bath|y corpse))\b/i, images: true },
} as const;
type Category = keyof typeof CATEGORIES;

const FLAGGED_FROM = 0.5;
/** Of all texts together, and of all addresses: each is searched for the words of every category. */
const MOST_CHARACTERS = 100_000;

/** One result of OpenAI's moderation. */
export interface Judgement {
  readonly flagged: boolean;
  readonly categories: Readonly<Record<string, boolean>>;
  /** From 0 to 1. */
  readonly category_scores: Readonly<Record<string, number>>;
  readonly category_applied_input_types: Readonly<Record<string, readonly InputType[]>>;
}

/** Judges by words alone: those of the texts, and those in the addresses of images. */
export function judge(texts: readonly string[], imageUrls: readonly string[]): Judgement {
  const said = beginningOf(texts);
  const shown = beginningOf(imageUrls.filter((url) => !url.startsWith('data:'))).map(wordsIn);
  const seed = hash('sha256', JSON.stringify([said, shown]), 'hex');
  const scores = Object.entries(CATEGORIES).map(([name, { words, images }]) => {
    const noise = Number.parseInt(hash('sha256', `${name} ${seed}`, 'hex').slice(0, 8), 16) / 2 ** 32;
    const isFound = said.some((text) => words.test(text)) || (images && shown.some((text) => words.test(text)));
    return [name, isFound ? 0.9 + noise / 12 : noise / 1000] as const;
  });
  const applied = (category: Category): InputType[] => [
    ...(texts.length > 0 ? (['text'] as const) : []),
    ...(imageUrls.length > 0 && CATEGORIES[category].images ? (['image'] as const) : []),
  ];
  return {
    flagged: scores.some(([, score]) => score >= FLAGGED_FROM),
    categories: Object.fromEntries(scores.map(([name, score]) => [name, score >= FLAGGED_FROM])),
    category_scores: Object.fromEntries(scores),
    category_applied_input_types: Object.fromEntries(
      Object.keys(CATEGORIES)
        .filter(isCategory)
        .map((name) => [name, applied(name)]),
    ),
  };
}

const isCategory = (name: string): name is Category => Object.hasOwn(CATEGORIES, name);

/** As much of them as is looked at. */
function beginningOf(texts: readonly string[]): string[] {
  let room = MOST_CHARACTERS;
  const looked: string[] = [];
  for (const text of texts) {
    if (room <= 0) break;
    looked.push(text.slice(0, room));
    room -= text.length;
  }
  return looked;
}

/** Of a link. A data URL is its bytes, and says nothing. */
const wordsIn = (url: string): string => url.replace(/[^a-z]+/gi, ' ');
