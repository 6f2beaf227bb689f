import { Untranslatable } from './fault.ts';
import type { UpstreamCall, UpstreamFault } from './port.ts';

/** How a provider calls the bound on tokens out, where the caller did not name it. */
export type MaxTokensField = 'max_tokens' | 'max_completion_tokens';

/** In what an endpoint with OpenAI's API differs from OpenAI. */
export interface OpenAiQuirks {
  /** Which field carries the bound on tokens out where the caller named none. Default: `max_tokens`, which all but OpenAI know. */
  readonly maxTokensField?: MaxTokensField;
  /** It refuses the other of the two fields, so that the bound goes into that one alone. */
  readonly takesOneBound?: true;
  /** It has Responses. */
  readonly hasResponses?: true;
  /** Who names no service tier there is served at the one of the operator's project, which may be a dearer one. */
  readonly hasProjectTier?: true;
  /** Fields of chats that it refuses or passes over, and that change an answer: such a request is for another deployment. */
  readonly lacks?: readonly string[];
  /** Fields of chats that it refuses, and that change no answer: they are left out. */
  readonly omits?: readonly string[];
  /** What it calls fields of chats. */
  readonly renames?: Readonly<Record<string, string>>;
}

/** Whether what is sent is anything else than for OpenAI: of most endpoints nothing is. */
export const changesFields = ({ lacks, omits, renames, takesOneBound }: OpenAiQuirks): boolean =>
  [lacks, omits, renames, takesOneBound].some((quirk) => quirk !== undefined);

type Json = Readonly<Record<string, unknown>>;

/** A field that says what is so without it. */
const isNeutral = (name: string, value: unknown): boolean => {
  if (value === undefined || value === null || value === false || value === 0) return true;
  if (name === 'n') return value === 1;
  return typeof value === 'object' && Object.keys(value).length === 0;
};

/** Why the request is not for this endpoint; undefined where it is. */
export function quirkFault({ endpoint, request }: UpstreamCall, { lacks = [] }: OpenAiQuirks): UpstreamFault | undefined {
  if (endpoint !== '/v1/chat/completions') return undefined;
  const asked: Json = request;
  const missing = lacks.find((name) => !isNeutral(name, asked[name]));
  return missing === undefined ? undefined : new Untranslatable(missing, `This provider has no \`${missing}\`: leave it out.`).fault;
}

/** The fields of a chat completion as this endpoint takes them. */
export function withQuirks(
  fields: Json,
  { lacks = [], omits = [], renames = {}, takesOneBound, maxTokensField = 'max_tokens' }: OpenAiQuirks,
): Json {
  const sent: Record<string, unknown> = { ...fields };
  for (const name of [...lacks, ...omits]) sent[name] = undefined;
  for (const [name, theirs] of Object.entries(renames)) {
    sent[theirs] ??= sent[name];
    sent[name] = undefined;
  }
  if (takesOneBound) {
    // Both have the bound that is held, where they are there.
    const bound = sent['max_tokens'] ?? sent['max_completion_tokens'];
    sent['max_tokens'] = maxTokensField === 'max_tokens' ? bound : undefined;
    sent['max_completion_tokens'] = maxTokensField === 'max_completion_tokens' ? bound : undefined;
  }
  return sent;
}
