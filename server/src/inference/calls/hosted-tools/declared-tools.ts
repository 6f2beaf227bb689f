import type { PriceMeter, ResponseItem, ResponseRequest } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import type { ToolUsage } from '../../../money/catalog/index.ts';
import { CONTAINER_GIGABYTES, IMAGE_TOOL_MODEL, MOST_FILE_RESULTS } from '../cost-fields/hosted-tool-rules.ts';
import { unpricedFeature } from '../cost-fields/index.ts';
import { RESPONSE_TOOLS } from '../cost-fields/tool-rules.ts';
import { MOST_INPUT_IMAGE_TOKENS, mostImageTokens, PARTIAL_IMAGE_TOKENS } from '../image-tokens.ts';
import { isRecord } from '../usage.ts';

type Tool = Readonly<Record<string, unknown>>;

/** What a request lets the provider run. */
export interface HostedTools {
  /** What has to have a price, and where it is asked for. */
  readonly meters: readonly { readonly meter: PriceMeter; readonly param: string }[];
  /** The most calls of these tools, which the provider is told. */
  readonly calls: number;
  /** Whether that is the gateway's choice. */
  readonly areCallsOurs: boolean;
  /** Passes over the input at most: one more than there are calls. */
  readonly passes: number;
  /** Tokens that a call can put into the input at most; undefined where only the context window bounds them. */
  readonly tokensOfCall: number | undefined;
  /** How many containers it declares, one a tool, and gigabytes of memory of them together. */
  readonly containers: number;
  readonly containerGigabytes: number;
  /** Of an image that the image tool makes; 0 without that. */
  readonly imageTokens: number;
  /** The most units of every meter. */
  readonly most: ToolUsage;
}

/** Where the request does not say how many calls there may be, the first of these that fits. */
export const CALLS_TO_TRY = [8, 3, 1] as const;
/** A bound that no answer needs. */
const MOST_CALLS = 1_000;

/** OpenAI, "Web search", limitations: what the tool reads is limited to a window of 128,000 tokens, whichever the model's is. */
const WEB_SEARCH_TOKENS = 128_000;
/** OpenAI, "File search": a chunk has 4,096 tokens at most; 20 results where the request does not say how many. */
const CHUNK_TOKENS = 4_096;
const FILE_RESULTS = 20;
/** A prompt for an image has 32,000 characters at most, and so many images with it (OpenAI, "Images"). */
const IMAGE_PROMPT_TOKENS = 32_000;
const MOST_INPUT_IMAGES = 16;
/** Tokens of an image; what the model writes beside it is no more. */
const imageCall = ({ size, quality, partial_images: partials }: Tool) => {
  const image = mostImageTokens(typeof size === 'string' ? size : undefined, typeof quality === 'string' ? quality : undefined);
  return image + (typeof partials === 'number' ? partials : 0) * PARTIAL_IMAGE_TOKENS;
};

/**
 * @param calls where the request does not bound them
 * @returns undefined where the provider runs nothing
 * @throws Problem `validation_failed` for a bound that is too large
 */
export function hostedTools(
  { tools, max_tool_calls: asked }: Pick<ResponseRequest, 'tools' | 'max_tool_calls'>,
  items: readonly ResponseItem[],
  calls: number = CALLS_TO_TRY[0],
): HostedTools | undefined {
  const hosted = (tools ?? []).flatMap((tool, index) => (isHosted(tool) ? [{ tool, param: `tools[${index}]` }] : []));
  // What was approved runs before anything else, and beside the calls that are counted.
  const approvals = items.filter(({ type }) => type === 'mcp_approval_response').length;
  if (hosted.length === 0 && approvals === 0) return undefined;
  if ((asked ?? 0) > MOST_CALLS)
    throw invalidInput([{ loc: ['body', 'max_tool_calls'], msg: `must be at most ${MOST_CALLS}`, type: 'too_big' }]);
  const bound = asked ?? calls;
  const mine = hosted.map(({ tool }) => tool);
  requireOneSearch(hosted);
  const results = mine.map(tokensOfCall);
  return {
    meters: hosted.flatMap(({ tool, param }) => metersOf(tool).map((meter) => ({ meter, param }))),
    calls: bound,
    areCallsOurs: asked === undefined || asked === null,
    passes: bound + approvals + 1,
    tokensOfCall: approvals > 0 || results.includes(undefined) ? undefined : Math.max(...results.map((tokens) => tokens ?? 0)),
    containers: mine.filter((tool) => gigabytesOf(tool) > 0).length,
    containerGigabytes: mine.reduce((sum, tool) => sum + gigabytesOf(tool), 0),
    imageTokens: Math.max(0, ...mine.filter(({ type }) => type === 'image_generation').map(imageCall)),
    most: mine.map((tool) => mostOf(tool, bound)).reduce(addedUsage, {}),
  };
}

/** What is told of both is one number, and their prices differ. @throws Problem `unpriced_feature` */
function requireOneSearch(hosted: readonly { readonly tool: Tool; readonly param: string }[]): void {
  const searches = hosted.filter(({ tool }) => /^web_search/.test(String(tool['type'])));
  const other = searches.find(({ tool }) => metersOf(tool)[0] !== metersOf(searches[0]?.tool ?? tool)[0]);
  if (other) throw unpricedFeature({ param: other.param, what: 'web_search and web_search_preview in one request' });
}

const metersOf = ({ type }: Tool): readonly PriceMeter[] => RESPONSE_TOOLS.get(String(type))?.meters ?? [];

function isHosted(tool: Tool): boolean {
  const rule = RESPONSE_TOOLS.get(String(tool['type']));
  return rule?.runBy === 'provider' && !rule.isCallers?.(tool);
}

function tokensOfCall({ type, max_num_results: results }: Tool): number | undefined {
  switch (metersOf({ type })[0]) {
    case 'web_searches':
    case 'web_search_previews':
      return WEB_SEARCH_TOKENS;
    case 'file_searches':
      return CHUNK_TOKENS * (typeof results === 'number' ? Math.min(results, MOST_FILE_RESULTS) : FILE_RESULTS);
    case 'image_tool_text_input_tokens':
      return MOST_INPUT_IMAGE_TOKENS;
    default:
      return undefined;
  }
}

/** Of the one container that a tool declares. */
function gigabytesOf({ type, container, environment }: Tool): number {
  if (!metersOf({ type }).includes('container_gigabytes')) return 0;
  const { memory_limit: limit } = [container, environment].find(isRecord) ?? {};
  return CONTAINER_GIGABYTES[String(limit)] ?? 1;
}

function mostOf(tool: Tool, calls: number): ToolUsage {
  const [meter] = metersOf(tool);
  switch (meter) {
    case undefined:
      return {};
    case 'container_gigabytes':
      return { [meter]: gigabytesOf(tool) };
    case 'image_tool_text_input_tokens': {
      const image = imageCall(tool);
      return {
        [meter]: calls * IMAGE_PROMPT_TOKENS,
        image_tool_image_input_tokens: calls * MOST_INPUT_IMAGES * MOST_INPUT_IMAGE_TOKENS,
        image_tool_text_output_tokens: calls * image,
        image_tool_image_output_tokens: calls * image,
      };
    }
    default:
      return { [meter]: calls };
  }
}

/** None of a meter is left out. */
export function addedUsage(one: ToolUsage, other: ToolUsage): ToolUsage {
  const sum = new Map<string, number>();
  for (const [meter, units = 0] of [...Object.entries(one), ...Object.entries(other)]) sum.set(meter, (sum.get(meter) ?? 0) + units);
  return Object.fromEntries([...sum].filter(([, units]) => units > 0));
}

/** The tools as they are sent: the image tool with the model that its prices are of. */
export const sentTools = (tools: NonNullable<ResponseRequest['tools']>): NonNullable<ResponseRequest['tools']> =>
  tools.map((tool) => (tool.type === 'image_generation' ? { ...tool, model: IMAGE_TOOL_MODEL } : tool));

/** More than any model takes. */
const WINDOW_UNKNOWN = 10_000_000;

/**
 * Tokens in of all passes: each reads the prompt again, and what the calls before it have put behind it, which the window bounds.
 * @param prompt of one pass
 */
export function inputOfPasses(prompt: number, { passes, tokensOfCall }: HostedTools, window: number | null): number {
  const most = window ?? WINDOW_UNKNOWN;
  const each = tokensOfCall ?? most;
  // So many passes before the window is full: none where tools of a server are described in it from the start.
  const growing = tokensOfCall === undefined ? 0 : Math.min(passes, Math.ceil(most / each));
  return passes * prompt + (each * growing * (growing - 1)) / 2 + (passes - growing) * most;
}
