import { GOOGLE_HOSTED_TOOLS } from '@tallygate/contract';
import { googleTierIn, isKeptAtGoogle } from '../../../adapters/upstream/port.ts';
import { isRecord } from '../usage.ts';
import { counted, type FieldRules, free, refused, type Unpriced } from './field-rule.ts';
import { OTHER_PROVIDERS } from './other-names.ts';

/** In either of Google's spellings, `priority` and `SERVICE_TIER_PRIORITY`. */
const TIERS: ReadonlySet<unknown> = new Set(['default', 'flex', 'priority', 'unspecified']);
const isKnownTier = (tier: unknown): boolean => TIERS.has(googleTierIn(tier));

const PROMPT = 'part of the prompt: what a chat with it is bounded by';

/** Google's own, which `tools` names by members: each is billed by the call or by what it fetches. */
const HOSTED: ReadonlySet<string> = new Set(GOOGLE_HOSTED_TOOLS);

function unpricedGoogleTool(tools: unknown, param: string): Unpriced | undefined {
  if (!Array.isArray(tools)) return undefined;
  for (const [at, tool] of tools.entries()) {
    const name = isRecord(tool)
      ? Object.keys(tool).find((one) => HOSTED.has(one) && tool[one] !== null && tool[one] !== undefined)
      : undefined;
    if (name !== undefined) return { param: `${param}[${at}].${name}`, what: `tools that Google runs, such as ${name}` };
  }
  return undefined;
}

/** By its members: what each does to the price. */
export const GENERATION_CONFIG: FieldRules = {
  maxOutputTokens: counted('the bound on tokens out that is held is also sent'),
  candidateCount: counted('each candidate is held with the whole bound on tokens out'),
  responseSchema: counted(PROMPT),
  responseJsonSchema: counted(PROMPT),
  thinkingConfig: counted('thought counts as tokens out, within their bound'),
  responseModalities: refused('output other than text', (value) => isTextOut(value)),
  responseFormat: refused('output other than text, and schemas in another place than `responseJsonSchema`'),
  speechConfig: refused('output other than text'),
  imageConfig: refused('output other than text'),
  audioTranscriptionConfig: refused('output other than text'),
  translationConfig: refused('output other than text'),
  enableAffectiveDialog: refused('output other than text', (value) => value === false),
  modelSelectionConfig: refused('models that the provider chooses: name them in `models`'),
  routingConfig: refused('models that the provider chooses: name them in `models`'),
  mediaResolution: counted('every image is held at the most that one can cost, and a video at the window'),
  ...free('adds to what is shown, not to what is billed', 'enableEnhancedCivicAnswers', 'audioTimestamp'),
  ...free('steers which tokens are drawn, not how many', 'temperature', 'topP', 'topK', 'seed', 'presencePenalty', 'frequencyPenalty'),
  ...free('steers which tokens are drawn, not how many', 'stopSequences', 'responseMimeType'),
  ...free('adds to what is shown, not to what is billed', 'responseLogprobs', 'logprobs'),
};

const isTextOut = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string' && one.toUpperCase() === 'TEXT');

/** The first part with what no price holds: what is kept at Google is not the caller's. */
function unpricedContents(contents: unknown, param: string): Unpriced | undefined {
  if (!Array.isArray(contents)) return unpricedParts(contents, param);
  for (const [at, content] of contents.entries()) {
    const found = unpricedParts(content, `${param}[${at}]`);
    if (found) return found;
  }
  return undefined;
}

function unpricedParts(content: unknown, param: string): Unpriced | undefined {
  const parts = isRecord(content) && Array.isArray(content['parts']) ? content['parts'] : [];
  const at = parts.findIndex((part) => isRecord(part) && isRecord(part['fileData']) && isKeptAtGoogle(String(part['fileData']['fileUri'])));
  return at < 0 ? undefined : { param: `${param}.parts[${at}].fileData.fileUri`, what: 'files that are kept at Google' };
}

/** What Google's `generateContent` takes. */
const GENERATE_CONTENT: FieldRules = {
  contents: counted(PROMPT, unpricedContents),
  systemInstruction: counted(PROMPT, unpricedContents),
  tools: counted(PROMPT, unpricedGoogleTool),
  generationConfig: { ...counted('by its members'), members: GENERATION_CONFIG },
  cachedContent: refused('content that is kept at the provider'),
  continuationToken: refused('answers that are kept at the provider'),
  serviceTier: {
    ...counted('held at the dearest tier that it may be served at, settled at the one that the answer names'),
    unpriced: (tier, param) => (isKnownTier(tier) ? undefined : { param, what: `the service tier "${String(tier).slice(0, 40)}"` }),
  },
  ...free('the functions that it names are part of the prompt', 'toolConfig'),
  ...free('decides what is withheld, not what is billed', 'safetySettings'),
  ...free('marks the bill', 'labels'),
  ...free('nothing is kept at the provider: not sent', 'store'),
  ...free('read by the gateway, not sent', 'model', 'models'),
  ...OTHER_PROVIDERS,
};

const EMBED_CONTENT: FieldRules = {
  content: counted('every text, by its bytes or tokens'),
  ...free('tokens in are all that is billed', 'outputDimensionality', 'taskType'),
  title: counted('as a text'),
  ...free('read by the gateway, not sent', 'model'),
  ...OTHER_PROVIDERS,
};

const BATCH_EMBED_CONTENTS: FieldRules = {
  requests: counted('every text of each, by its bytes or tokens'),
  ...free('read by the gateway, not sent', 'model'),
  ...OTHER_PROVIDERS,
};

/** By the path of the operation. */
export const GOOGLE_FIELDS: Readonly<Record<string, FieldRules>> = {
  '/v1beta/models/:model/generateContent': GENERATE_CONTENT,
  '/v1beta/models/:model/streamGenerateContent': GENERATE_CONTENT,
  '/v1beta/models/:model/embedContent': EMBED_CONTENT,
  '/v1beta/models/:model/batchEmbedContents': BATCH_EMBED_CONTENTS,
};
