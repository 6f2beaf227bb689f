/** What the models of one generation take. Anthropic answers 400 to what a model does not. */
export interface ModelTraits {
  /** `adaptive`: as long as the model likes, steered by an effort. `budget`: for so many tokens, on request. */
  readonly thinking: 'adaptive' | 'budget' | 'none';
  /** The model thinks unless told not to; `always`: it cannot be told. */
  readonly thinksByDefault: 'no' | 'yes' | 'always';
  /** Thoughts come back only where asked for. */
  readonly hidesThoughts: boolean;
  /** The effort between `high` and `max`. */
  readonly hasExtraHighEffort: boolean;
  /** How many of `temperature` and `top_p` may be set. */
  readonly samplingFields: 0 | 1 | 2;
  /** Answers can be held to a JSON Schema (`output_config.format`). */
  readonly hasOutputFormat: boolean;
}

interface Generation {
  readonly family: string;
  /** 4.6 is 406. */
  readonly version: number;
}

/** Of a name that tells nothing: as the newest, whose requests have the fewest fields that anything could object to. */
const UNKNOWN: Generation = { family: 'opus', version: 505 };

/** By Anthropic's migration guides and deprecation notes, as of November 2026. */
export function traitsOf(model: string): ModelTraits {
  const { family, version } = generationOf(model) ?? UNKNOWN;
  const isStory = family === 'fable' || family === 'mythos';
  const isSince = (opus: number, sonnet: number, haiku: number): boolean =>
    isStory || version >= (family === 'opus' ? opus : family === 'sonnet' ? sonnet : haiku);
  const thinking = isSince(406, 406, 500) ? 'adaptive' : isSince(400, 307, 405) ? 'budget' : 'none';
  return {
    thinking,
    thinksByDefault: isStory || (family !== 'haiku' && isSince(505, 505, 505)) ? 'always' : isSince(500, 500, 500) ? 'yes' : 'no',
    hidesThoughts: isSince(407, 500, 500),
    hasExtraHighEffort: isSince(407, 500, 500),
    samplingFields: isSince(407, 500, 500) ? 0 : isSince(401, 405, 405) ? 1 : 2,
    hasOutputFormat: isSince(405, 405, 405),
  };
}

/** Of `claude-opus-4-8`, `claude-haiku-4-5-20251001`, and the older order `claude-3-7-sonnet-latest`; prefixes of resellers may precede. */
function generationOf(model: string): Generation | undefined {
  const newer = /claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:[.-](\d{1,2}))?(?!\d)/i.exec(model);
  const older = /claude-(\d)(?:[.-](\d))?-(opus|sonnet|haiku)/i.exec(model);
  const [family, major, minor] = newer ? [newer[1], newer[2], newer[3]] : [older?.[3], older?.[1], older?.[2]];
  return family === undefined ? undefined : { family: family.toLowerCase(), version: Number(major) * 100 + Number(minor ?? 0) };
}
